"""Heartbeat and LeaveGroup: staying, falling silent, going."""

import pytest

from kafkish.tests.coordinators.groups.group_model import INITIAL_DELAY_MS, GroupModel
from kafkish.tests.coordinators.groups.requests import REBALANCE_MS, SESSION_MS, commit, heartbeat, join, leave, sync
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.leave_group import MemberResponse


@pytest.mark.parametrize("version", range(5))
def test_heartbeat_in_every_version_and_what_it_is_told(version: int) -> None:
    model = GroupModel()
    (member,) = model.stabilise(1)
    assert model.error(heartbeat("g", member, 1), version) == ErrorCode.NONE
    assert model.error(heartbeat("", member, 1), version) == ErrorCode.INVALID_GROUP_ID
    assert model.error(heartbeat("none", member, 1), version) == ErrorCode.UNKNOWN_MEMBER_ID
    assert model.error(heartbeat("g", "who", 1), version) == ErrorCode.UNKNOWN_MEMBER_ID
    assert model.error(heartbeat("g", member, 0), version) == ErrorCode.ILLEGAL_GENERATION
    assert model.error(heartbeat("g", member, 2), version) == ErrorCode.ILLEGAL_GENERATION


def test_heartbeat_while_the_leader_assigns_is_fine_and_while_members_join_is_told_to_join() -> None:
    model = GroupModel()
    leader, follower = (response.member_id for response in model.form(2))
    assert model.error(heartbeat("g", follower, 1)) == ErrorCode.NONE
    model.start_join()
    assert model.error(heartbeat("g", follower, 1)) == ErrorCode.REBALANCE_IN_PROGRESS
    model.advance(SESSION_MS - 1)
    assert model.error(heartbeat("g", leader, 1)) == ErrorCode.REBALANCE_IN_PROGRESS
    model.advance(SESSION_MS - 1)
    assert leader in model.group().members
    assert follower not in model.group().members


def test_silent_member_is_out_after_its_session_and_the_others_rebalance() -> None:
    model = GroupModel()
    leader, follower = model.stabilise(2)
    model.advance(SESSION_MS - 1)
    model.ask(heartbeat("g", leader, 1))
    assert model.state_name() == "Stable"
    model.advance(1)
    assert list(model.group().members) == [leader]
    assert model.error(heartbeat("g", leader, 1)) == ErrorCode.REBALANCE_IN_PROGRESS
    assert model.error(heartbeat("g", follower, 1)) == ErrorCode.UNKNOWN_MEMBER_ID
    assert model.answer(model.start_join(leader)).generation_id == 2


def test_member_killed_during_the_rebalance_does_not_hold_it_up_beyond_its_session() -> None:
    """Row 16: a member that is killed while others join must not leave the group in PreparingRebalance."""
    model = GroupModel()
    first, second = model.stabilise(2)
    newcomer = model.start_join()
    rejoined = model.start_join(first)
    model.advance(SESSION_MS)
    assert second not in model.group().members
    assert {model.answer(handle).generation_id for handle in (newcomer, rejoined)} == {2}


def test_commit_counts_as_a_sign_of_life() -> None:
    model = GroupModel()
    (member,) = model.stabilise(1)
    for offset in range(5):
        model.advance(SESSION_MS - 1)
        model.ask(commit("g", {("t", 0): offset}, member=member, generation=1))
    assert model.state_name() == "Stable"


def test_the_wall_clock_may_jump_without_ending_a_session() -> None:
    model = GroupModel()
    (member,) = model.stabilise(1)
    for step_ms in (288_000, -576_000, 10**12):
        model.step_wall_clock(step_ms)
        model.advance(SESSION_MS - 1)
        assert model.error(heartbeat("g", member, 1)) == ErrorCode.NONE


def test_last_member_to_leave_empties_the_group_and_the_log_knows() -> None:
    model = GroupModel()
    (member,) = model.stabilise(1)
    assert model.error(leave("g", member)) == ErrorCode.NONE
    assert model.state_name() == "Empty"
    value = model.written[-1].value
    assert (value.generation, value.protocol_type, value.protocol, value.members) == (2, "consumer", None, [])  # type: ignore[union-attr]


def test_leaving_is_answered_when_it_cannot_be_lost() -> None:
    model = GroupModel(commits_at_once=False)
    (member,) = model.form(1)
    handle = model.start(leave("g", member.member_id))
    assert handle in model.waiting
    model.commit()
    assert model.answer(handle).error_code == 0


@pytest.mark.parametrize("version", range(3))
def test_old_versions_let_one_member_leave_and_have_one_error(version: int) -> None:
    model = GroupModel()
    leader, follower = model.stabilise(2)
    assert model.error(leave("g", "who"), version) == ErrorCode.UNKNOWN_MEMBER_ID
    assert model.error(leave("none", "who"), version) == ErrorCode.UNKNOWN_MEMBER_ID
    assert model.error(leave("", "who"), version) == ErrorCode.INVALID_GROUP_ID
    assert model.error(leave("g", follower), version) == ErrorCode.NONE
    assert list(model.group().members) == [leader]


@pytest.mark.parametrize("version", range(3, 6))
def test_several_members_leave_at_once_each_with_its_own_error(version: int) -> None:
    model = GroupModel()
    dynamic, static = model.start_join(), model.start_join(instance="i")
    other = model.start_join(instance="j")
    model.advance(2 * INITIAL_DELAY_MS)
    ids = [model.answer(handle).member_id for handle in (dynamic, static, other)]
    pending = model.ask(join()).member_id
    request = leave("g", ids[0], ("", "i"), (ids[1], "j"), "who", pending, ("", None), ("", "nobody"), (ids[0], "i"))
    response = model.ask(request, version)
    assert response.error_code == ErrorCode.NONE
    fenced, unknown = ErrorCode.FENCED_INSTANCE_ID, ErrorCode.UNKNOWN_MEMBER_ID
    assert response.members == [
        MemberResponse(member_id=ids[0], group_instance_id=None, error_code=0),
        MemberResponse(member_id="", group_instance_id="i", error_code=0),
        MemberResponse(member_id=ids[1], group_instance_id="j", error_code=fenced),
        MemberResponse(member_id="who", group_instance_id=None, error_code=unknown),
        MemberResponse(member_id=pending, group_instance_id=None, error_code=0),
        MemberResponse(member_id="", group_instance_id=None, error_code=unknown),
        MemberResponse(member_id="", group_instance_id="nobody", error_code=unknown),
        MemberResponse(member_id=ids[0], group_instance_id="i", error_code=unknown),
    ]
    assert list(model.group().members) == [ids[2]]


def test_leave_of_a_group_that_does_not_exist_names_every_member() -> None:
    model = GroupModel()
    response = model.ask(leave("none", "a", "b"))
    assert [member.error_code for member in response.members] == [ErrorCode.UNKNOWN_MEMBER_ID] * 2


def test_member_that_leaves_while_it_waits_to_join_is_answered_and_the_rest_go_on() -> None:
    model = GroupModel()
    (first,) = model.stabilise(1)
    member = model.ask(join()).member_id
    waiting = model.start_join(member)
    model.ask(leave("g", member))
    answer = model.answer(waiting)
    assert (answer.error_code, answer.member_id) == (ErrorCode.UNKNOWN_MEMBER_ID, "")
    assert model.answer(model.start_join(first)).generation_id == 2


def test_cooperative_rebalance_is_two_generations_in_a_row() -> None:
    """A cooperative consumer that gave partitions up joins again at once; the coordinator sees a follower with news."""
    model = GroupModel()
    leader, follower = model.stabilise(2, protocols={"cooperative-sticky": b"owned: 0, 1"})
    handles = [
        model.start_join(follower, protocols={"cooperative-sticky": b"owned: 0"}),
        model.start_join(leader, protocols={"cooperative-sticky": b"owned: nothing"}),
    ]
    protocol = ("consumer", "cooperative-sticky")
    assert [model.answer(handle).generation_id for handle in handles] == [2, 2]
    waiting = model.start(sync("g", follower, 2, protocol=protocol))
    model.ask(sync("g", leader, 2, {leader: b"1", follower: b"0"}, protocol=protocol))
    assert model.answer(waiting).assignment == b"0"


def test_group_is_never_stuck_when_all_members_vanish() -> None:
    model = GroupModel()
    model.form(3)
    model.start_join()
    model.advance(max(SESSION_MS, REBALANCE_MS) * 2)
    assert model.state_name() == "Empty"
    assert not model.waiting
