"""How a classic group gets from one generation to the next, and how it loses members.

    prepare     members are told to join again; those who wait for an assignment are sent away
    complete    whoever has joined is the next generation; the others are out, except static members
    (SyncGroup) the leader's assignment makes it stable; whoever does not ask for its own in time is out

Three timers watch over that: of each member's session, of the wait for joins, of the wait for syncs.
"""

from functools import partial
from typing import Final

from kafkish.coordinators.effects import Unobserved
from kafkish.coordinators.groups.classic import responses
from kafkish.coordinators.groups.classic.group import ClassicGroup, GroupState
from kafkish.coordinators.groups.classic.member import Member
from kafkish.coordinators.groups.records import group_record
from kafkish.coordinators.groups.refusals import refuse_join
from kafkish.coordinators.groups.state import ShardState, join_key, session_key, sync_key
from kafkish.coordinators.inputs import Caller, Now
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.sync_group import SyncGroupResponse

_RETRY_FLOOR_MS: Final = 1_000  # members may allow rebalances no time at all; looking again costs us


def prepare_or_complete(shard: ShardState, group: ClassicGroup, now: Now) -> None:
    """Membership has changed: begin a rebalance, or end the running one if that was all it waited for."""
    if group.state is GroupState.PREPARING_REBALANCE:
        complete_if_all_joined(shard, group, now)
    else:
        prepare(shard, group, now)


def prepare(shard: ShardState, group: ClassicGroup, now: Now) -> None:
    """Ask everybody to join again."""
    if group.state is GroupState.COMPLETING_REBALANCE:
        for member in group.members.values():
            member.assignment = b""
        answer_syncs(shard, group, ErrorCode.REBALANCE_IN_PROGRESS, now)
    group.pending_sync_ids.clear()
    shard.deadlines.cancel(sync_key(group.group_id))
    group.move_to(GroupState.PREPARING_REBALANCE, now.wall_ms)
    if group.is_initial_rebalance:
        _await_first_members(shard, group, now)
    elif group.everyone_has_joined:
        complete(shard, group, now)
    else:
        _await_joins(shard, group, now, group.rebalance_timeout_ms)


def complete_if_all_joined(shard: ShardState, group: ClassicGroup, now: Now) -> None:
    """End the wait for joins, unless it is the first rebalance, which has its own delay."""
    preparing = group.state is GroupState.PREPARING_REBALANCE
    if preparing and not group.is_initial_rebalance and group.everyone_has_joined:
        complete(shard, group, now)


def complete(shard: ShardState, group: ClassicGroup, now: Now) -> None:
    """Begin the next generation with those who have joined."""
    shard.deadlines.cancel(join_key(group.group_id))
    for member in [m for m in group.members.values() if m.joining is None and not m.is_static]:
        remove_member(shard, group, member)
    if group.members and not group.elect_leader_among_joined():
        _await_joins(shard, group, now, max(group.rebalance_timeout_ms, _RETRY_FLOOR_MS))
        return  # only static members, all away: their sessions decide
    group.begin_generation(now.wall_ms)
    if not group.members:
        shard.outbox.write([group_record(group, {})], Unobserved())  # at worst the old members come back to expire
        return
    for member in group.members.values():
        member.is_new = False
        renew_session(shard, group, member, now)
        if caller := group.set_joining(member, None):
            shard.outbox.reply(caller.handle, responses.joined(group, member))
    on_overdue = partial(_on_sync_overdue, shard, group, group.generation_id)
    shard.deadlines.set(sync_key(group.group_id), now.monotonic_ms + group.rebalance_timeout_ms, on_overdue)


def _await_joins(shard: ShardState, group: ClassicGroup, now: Now, wait_ms: int) -> None:
    on_overdue = partial(complete, shard, group)
    shard.deadlines.set(join_key(group.group_id), now.monotonic_ms + wait_ms, on_overdue)


def _await_first_members(shard: ShardState, group: ClassicGroup, now: Now) -> None:
    """A group that starts up gets time to gather (KIP-134): the delay, and again while members still come.

    All delays together stay within the rebalance timeout of the first member; the first delay is always waited for.
    """
    group.has_new_members = False
    delay_ms = shard.settings.initial_rebalance_delay_ms
    on_over = partial(_on_delay_over, shard, group, max(group.rebalance_timeout_ms - delay_ms, 0))
    shard.deadlines.set(join_key(group.group_id), now.monotonic_ms + delay_ms, on_over)


def _on_delay_over(shard: ShardState, group: ClassicGroup, left_ms: int, now: Now) -> None:
    if not group.has_new_members or left_ms == 0:
        complete(shard, group, now)
        return
    group.has_new_members = False
    delay_ms = min(shard.settings.initial_rebalance_delay_ms, left_ms)
    on_over = partial(_on_delay_over, shard, group, left_ms - delay_ms)
    shard.deadlines.set(join_key(group.group_id), now.monotonic_ms + delay_ms, on_over)


def _on_sync_overdue(shard: ShardState, group: ClassicGroup, generation_id: int, now: Now) -> None:
    if generation_id != group.generation_id or not group.pending_sync_ids:
        return
    for member in [m for m in group.members.values() if m.member_id in group.pending_sync_ids]:
        remove_member(shard, group, member)
    prepare(shard, group, now)


# -- members


def renew_session(
    shard: ShardState, group: ClassicGroup, member: Member, now: Now, timeout_ms: int | None = None
) -> None:
    """The member is alive: count its session from now."""
    wait_ms = member.session_timeout_ms if timeout_ms is None else timeout_ms
    on_overdue = partial(_on_session_overdue, shard, group, member)
    key = session_key(group.group_id, member.member_id)
    shard.deadlines.set(key, now.monotonic_ms + wait_ms, on_overdue)


def _on_session_overdue(shard: ShardState, group: ClassicGroup, member: Member, now: Now) -> None:
    if member.is_excused_from_heartbeats:
        return
    remove_member(shard, group, member)
    on_member_lost(shard, group, now)


def on_member_lost(shard: ShardState, group: ClassicGroup, now: Now) -> None:
    """Go on without a member that was not heard of."""
    if group.state is not GroupState.PREPARING_REBALANCE:
        prepare(shard, group, now)
    elif group.everyone_has_joined:
        complete(shard, group, now)


def remove_member(shard: ShardState, group: ClassicGroup, member: Member) -> None:
    """Take a member out. Should a request of it wait, its client may still live and join anew."""
    shard.deadlines.cancel(session_key(group.group_id, member.member_id))
    answer_join(shard, group, member, ErrorCode.UNKNOWN_MEMBER_ID, member_id="")
    answer_sync(shard, group, member, ErrorCode.UNKNOWN_MEMBER_ID)
    group.remove(member)


# -- who waits


def wait_for_join(shard: ShardState, group: ClassicGroup, member: Member, caller: Caller) -> None:
    """Hold the JoinGroup until the next generation. One that is sent again replaces the first, which is sent away."""
    if replaced := group.set_joining(member, caller):
        response = refuse_join(replaced.api_version, ErrorCode.REBALANCE_IN_PROGRESS, member.member_id)
        shard.outbox.reply(replaced.handle, response)


def wait_for_sync(shard: ShardState, member: Member, caller: Caller) -> None:
    """Hold the SyncGroup until the leader's is stored. One that is sent again replaces the first."""
    replaced, member.syncing = member.syncing, caller
    if replaced:
        shard.outbox.reply(replaced.handle, SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS))


def answer_join(shard: ShardState, group: ClassicGroup, member: Member, error: ErrorCode, member_id: str) -> None:
    """Refuse the JoinGroup that waits, if one does."""
    if caller := group.set_joining(member, None):
        shard.outbox.reply(caller.handle, refuse_join(caller.api_version, error, member_id))


def answer_sync(shard: ShardState, group: ClassicGroup, member: Member, error: ErrorCode) -> bool:
    """Answer the SyncGroup that waits, if one does, with the assignment or an error."""
    caller, member.syncing = member.syncing, None
    if caller is None:
        return False
    response = SyncGroupResponse(error_code=error) if error else responses.synced(group, member)
    shard.outbox.reply(caller.handle, response)
    return True


def answer_syncs(shard: ShardState, group: ClassicGroup, error: ErrorCode, now: Now) -> None:
    """Answer everybody who waits for an assignment. While they waited, no heartbeat was asked of them."""
    for member in group.members.values():
        if answer_sync(shard, group, member, error):
            renew_session(shard, group, member, now)
