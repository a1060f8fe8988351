"""Many seeds of the simulation, and bugs that it must notice."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from kafkish.coordinators.effects import ReplyWhenCommitted, Unobserved
from kafkish.coordinators.groups.classic import rebalance, sync_group
from kafkish.coordinators.groups.classic.group import ClassicGroup, GroupState
from kafkish.coordinators.groups.shard import REPLAYS
from kafkish.coordinators.groups.state import ShardState
from kafkish.tests.coordinators.groups.simulation import simulate
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.stored.offset_commit import OffsetCommitKey

SEEDS = range(12)


def play_all_seeds() -> Counter[str]:
    happened: Counter[str] = Counter()
    for seed in SEEDS:
        happened += simulate(seed)
    return happened


def test_groups_stay_sound_under_every_misfortune(show: Callable[[str], None]) -> None:
    happened = play_all_seeds()
    for what in ("failovers", "clock steps", "assignments received", "commits acknowledged", "writes timed out"):
        assert happened[what] > len(SEEDS), f"the simulation hardly sees {what}"
    show(f"group simulation, {len(SEEDS)} seeds: " + ", ".join(f"{n:,} {what}" for what, n in sorted(happened.items())))


def commits_of_old_generations_are_taken(patch: pytest.MonkeyPatch) -> None:
    original = ClassicGroup.check_commit

    def careless(group: ClassicGroup, request: Any) -> ErrorCode:
        error = original(group, request)
        return ErrorCode.NONE if error == ErrorCode.ILLEGAL_GENERATION else error

    patch.setattr(ClassicGroup, "check_commit", careless)


def former_self_is_not_fenced(patch: pytest.MonkeyPatch) -> None:
    original = ClassicGroup.rename_static

    def careless(group: ClassicGroup, member: Any, new_member_id: str) -> None:
        former_id = member.member_id
        original(group, member, new_member_id)
        group.members[former_id] = member

    patch.setattr(ClassicGroup, "rename_static", careless)


def followers_are_forgotten_when_a_rebalance_begins(patch: pytest.MonkeyPatch) -> None:
    def careless(_: Any, group: ClassicGroup, error: ErrorCode, __: Any) -> None:
        for member in group.members.values():
            member.syncing = None

    patch.setattr(rebalance, "answer_syncs", careless)


def join_that_was_sent_again_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rebalance, "wait_for_join", lambda _, group, member, caller: group.set_joining(member, caller))


def assignment_is_handed_out_before_it_is_stored(patch: pytest.MonkeyPatch) -> None:
    original = sync_group._store

    def hasty(shard: ShardState, group: ClassicGroup, request: Any) -> None:
        for member in group.members.values():
            member.assignment = next(
                (a.assignment for a in request.assignments if a.member_id == member.member_id), b""
            )
            rebalance.answer_sync(shard, group, member, ErrorCode.NONE)
        original(shard, group, request)

    patch.setattr(sync_group, "_store", hasty)


def assignment_of_an_old_generation_is_handed_out(patch: pytest.MonkeyPatch) -> None:
    def careless(outcome: Any) -> bool:
        return outcome.group.state is GroupState.COMPLETING_REBALANCE

    patch.setattr(sync_group._AssignmentStored, "_still_matters", careless)


def sessions_end_while_nobody_looks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rebalance, "_on_session_overdue", lambda *_: None)


def commit_is_acknowledged_before_it_is_stored(patch: pytest.MonkeyPatch) -> None:
    def hasty(shard: ShardState, records: Any, _: Any, caller: Any, response: Any) -> None:
        shard.outbox.reply(caller.handle, response)
        shard.outbox.write(records, Unobserved())

    patch.setattr(ShardState, "reply_when_committed", hasty)


def failed_commit_is_acknowledged(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ReplyWhenCommitted, "failed", lambda outcome, _, now: outcome.committed(now))


def memory_changes_without_a_record(patch: pytest.MonkeyPatch) -> None:
    def forgetful(shard: ShardState, key: Any, value: Any) -> None:
        shard.replay_offset(key, None if shard.is_live and value.offset % 7 == 0 else value)

    replays: dict[Any, Any] = REPLAYS
    patch.setitem(replays, OffsetCommitKey, forgetful)


def rebalance_waits_for_ever(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rebalance, "_await_joins", lambda *_: None)


BUGS = [
    commits_of_old_generations_are_taken,
    former_self_is_not_fenced,
    followers_are_forgotten_when_a_rebalance_begins,
    join_that_was_sent_again_is_forgotten,
    assignment_is_handed_out_before_it_is_stored,
    assignment_of_an_old_generation_is_handed_out,
    sessions_end_while_nobody_looks,
    commit_is_acknowledged_before_it_is_stored,
    failed_commit_is_acknowledged,
    memory_changes_without_a_record,
    rebalance_waits_for_ever,
]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_simulation_notices(bug: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    bug(monkeypatch)
    with pytest.raises((AssertionError, KeyError)):
        play_all_seeds()
