"""SyncGroup: the assignment goes through unread, once it is stored."""

import pytest

from kafkish.tests.coordinators.groups.group_model import GroupModel
from kafkish.tests.coordinators.groups.requests import REBALANCE_MS, SESSION_MS, heartbeat, leave, sync
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.sync_group import SyncGroupRequest


@pytest.mark.parametrize("version", range(6))
def test_followers_wait_for_the_leader_and_bytes_pass_through_verbatim(version: int) -> None:
    """Row 15 of the compatibility bugs: a follower is not answered before the leader has assigned."""
    model = GroupModel()
    leader, early, late = (response.member_id for response in model.form(3))
    waiting = model.start(sync("g", early, 1), version)
    assert waiting in model.waiting
    junk = {leader: b"\xff\x00not a consumer's", early: bytes(range(256)), late: b""}
    assert model.ask(sync("g", leader, 1, junk), version).assignment == junk[leader]
    assert model.answer(waiting).assignment == junk[early]
    assert model.ask(sync("g", late, 1), version).assignment == b""
    assert model.answer(waiting).protocol_name == ("range" if version >= 5 else None)


def test_member_that_the_leader_left_out_gets_empty_bytes() -> None:
    model = GroupModel()
    leader, follower = (response.member_id for response in model.form(2))
    handle = model.start(sync("g", follower, 1))
    model.ask(sync("g", leader, 1, {leader: b"mine", "stranger": b"?"}))
    answer = model.answer(handle)
    assert (answer.error_code, answer.assignment) == (0, b"")
    assert model.state_name() == "Stable"
    assert [member.assignment for member in model.written[-1].value.members] == [b"mine", b""]  # type: ignore[union-attr]


def test_nobody_is_answered_before_the_assignment_is_committed() -> None:
    model = GroupModel(commits_at_once=False)
    joined = model.form(2)
    leader, follower = (response.member_id for response in joined)
    handles = [model.start(sync("g", follower, 1)), model.start(sync("g", leader, 1, {leader: b"l", follower: b"f"}))]
    assert model.waiting == set(handles)
    assert model.state_name() == "CompletingRebalance"
    model.commit()
    assert [model.answer(handle).assignment for handle in handles] == [b"f", b"l"]
    assert model.state_name() == "Stable"


def test_second_assignment_of_a_generation_is_not_stored() -> None:
    model = GroupModel(commits_at_once=False)
    leader, follower = (response.member_id for response in model.form(2))
    waiting = model.start(sync("g", follower, 1))
    model.start(sync("g", leader, 1, {leader: b"l", follower: b"f"}))
    again = model.start(sync("g", leader, 1, {leader: b"f", follower: b"l"}))
    model.commit()
    assert [model.answer(handle).assignment for handle in (again, waiting)] == [b"l", b"f"]
    model.restart()
    assert [model.ask(sync("g", member, 1)).assignment for member in (leader, follower)] == [b"l", b"f"]


def refused(model: GroupModel) -> list[tuple[str, SyncGroupRequest, ErrorCode]]:
    member = next(iter(model.group().members))
    return [
        ("an empty group id", sync("", member, 1), ErrorCode.INVALID_GROUP_ID),
        ("a group that does not exist", sync("none", member, 1), ErrorCode.UNKNOWN_MEMBER_ID),
        ("an unknown member", sync("g", "who", 1), ErrorCode.UNKNOWN_MEMBER_ID),
        ("an old generation", sync("g", member, 0), ErrorCode.ILLEGAL_GENERATION),
        ("a generation to come", sync("g", member, 2), ErrorCode.ILLEGAL_GENERATION),
        ("an unknown instance", sync("g", member, 1, instance="i"), ErrorCode.UNKNOWN_MEMBER_ID),
        (
            "another protocol",
            sync("g", member, 1, protocol=("consumer", "sticky")),
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
        ),
        (
            "another protocol type",
            sync("g", member, 1, protocol=("connect", "range")),
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
        ),
        ("no protocol", sync("g", member, 1, protocol=(None, None)), ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ]


@pytest.mark.parametrize("case", range(9))
def test_sync_that_does_not_fit_is_refused(case: int) -> None:
    model = GroupModel()
    model.stabilise(2)
    what, request, error = refused(model)[case]
    assert model.error(request) == error, what


def test_protocol_need_not_be_named_before_version_5() -> None:
    model = GroupModel()
    leader, _ = model.stabilise(2)
    assert model.error(sync("g", leader, 1, protocol=(None, None)), 4) == ErrorCode.NONE


def test_sync_during_a_rebalance_is_told_to_join_again() -> None:
    model = GroupModel()
    leader, follower = model.stabilise(2)
    model.start_join(leader)
    assert model.error(sync("g", follower, 1)) == ErrorCode.REBALANCE_IN_PROGRESS


def test_rebalance_sends_those_away_who_wait_for_an_assignment_and_they_stay_members() -> None:
    model = GroupModel()
    leader, follower = (response.member_id for response in model.form(2))
    waiting = model.start(sync("g", follower, 1))
    model.advance(SESSION_MS - 1)
    model.ask(heartbeat("g", leader, 1))
    model.start_join()
    assert model.answer(waiting).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    model.advance(SESSION_MS - 1)
    assert follower in model.group().members


def test_member_that_waits_for_an_assignment_needs_no_heartbeats_until_it_has_it() -> None:
    model = GroupModel()
    leader, follower = (response.member_id for response in model.form(2))
    model.start(sync("g", follower, 1))
    for _ in range(5):
        model.advance(SESSION_MS // 2)
        assert model.error(heartbeat("g", leader, 1)) == ErrorCode.NONE
    assert follower in model.group().members
    model.ask(sync("g", leader, 1))
    model.advance(SESSION_MS)
    assert follower not in model.group().members


def test_members_that_never_sync_are_out_after_the_rebalance_timeout_and_the_leader_may_be_one() -> None:
    model = GroupModel()
    leader, follower = (response.member_id for response in model.form(2, session_ms=REBALANCE_MS * 3))
    waiting = model.start(sync("g", follower, 1))
    model.advance(REBALANCE_MS)
    assert model.answer(waiting).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert leader not in model.group().members
    assert model.answer(model.start_join(follower)).leader == follower


def test_sync_that_is_sent_again_replaces_the_first_and_both_are_answered() -> None:
    model = GroupModel()
    leader, follower = (response.member_id for response in model.form(2))
    first, second = model.start(sync("g", follower, 1)), model.start(sync("g", follower, 1))
    assert model.answer(first).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    model.ask(sync("g", leader, 1, {follower: b"f"}))
    assert model.answer(second).assignment == b"f"


def test_member_that_leaves_while_it_waits_for_its_assignment_is_answered() -> None:
    model = GroupModel()
    _, follower = (response.member_id for response in model.form(2))
    waiting = model.start(sync("g", follower, 1))
    model.ask(leave("g", follower))
    assert model.answer(waiting).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_assignment_that_was_overtaken_by_a_rebalance_is_not_handed_out() -> None:
    model = GroupModel(commits_at_once=False)
    leader, follower = (response.member_id for response in model.form(2))
    handle = model.start(sync("g", leader, 1, {leader: b"old"}))
    model.start_join(follower, protocols={"range": b"changed"})
    assert model.answer(handle).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    model.commit()
    assert model.state_name() == "PreparingRebalance"
    assert model.answer(model.start_join(leader)).generation_id == 2


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
        (ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_assignment_that_cannot_be_stored_is_an_error_for_all_and_a_reason_to_rebalance(
    error: ErrorCode, told: ErrorCode
) -> None:
    model = GroupModel()
    leader, follower = (response.member_id for response in model.form(2))
    handles = [model.start(sync("g", follower, 1))]
    model.refuse_writes_with = error
    handles.append(model.start(sync("g", leader, 1, {leader: b"l"})))
    assert [model.answer(handle).error_code for handle in handles] == [told, told]
    assert model.state_name() == "PreparingRebalance"
    model.refuse_writes_with = None
    handles = [model.start_join(leader), model.start_join(follower)]
    assert [model.answer(handle).generation_id for handle in handles] == [2, 2]
