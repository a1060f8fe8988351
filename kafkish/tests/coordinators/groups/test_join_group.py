"""JoinGroup: who gets in, with which id, and when everybody is told."""

import pytest

from kafkish.tests.coordinators.groups.group_model import INITIAL_DELAY_MS, GroupModel
from kafkish.tests.coordinators.groups.requests import (
    REBALANCE_MS,
    SESSION_MS,
    heartbeat,
    join,
    leave,
    subscription,
    sync,
)
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.join_group import JoinGroupRequest

VERSIONS = range(10)


@pytest.mark.parametrize("version", VERSIONS)
def test_first_member_becomes_leader_of_generation_one_in_every_version(version: int) -> None:
    model = GroupModel()
    (response,) = model.form(1, version=version)
    assert (response.error_code, response.generation_id, response.protocol_name) == (0, 1, "range")
    assert response.leader == response.member_id == "client-1"
    assert [member.metadata for member in response.members] == [subscription("t")]


@pytest.mark.parametrize("version", VERSIONS)
def test_member_id_required_only_from_version_4_and_only_for_dynamic_members(version: int) -> None:
    model = GroupModel()
    dynamic = model.start(join(), version)
    static = model.start(join("static", instance="i"), version) if version >= 5 else None
    model.advance(INITIAL_DELAY_MS)
    assert model.answer(dynamic).error_code == (ErrorCode.MEMBER_ID_REQUIRED if version >= 4 else ErrorCode.NONE)
    assert static is None or model.answer(static).error_code == ErrorCode.NONE


REFUSED = [
    ("an empty group id", join(""), ErrorCode.INVALID_GROUP_ID),
    ("a session that is too short", join(session_ms=5_999), ErrorCode.INVALID_SESSION_TIMEOUT),
    ("a session that is too long", join(session_ms=1_800_001), ErrorCode.INVALID_SESSION_TIMEOUT),
    ("a member id in a group that does not exist", join(member="who"), ErrorCode.UNKNOWN_MEMBER_ID),
]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("what", "request_", "error"), REFUSED, ids=[what for what, *_ in REFUSED])
def test_refused_join_leaves_no_group_behind(what: str, request_: object, error: ErrorCode, version: int) -> None:
    model = GroupModel()
    response = model.ask(request_, version)  # type: ignore[arg-type]
    assert (response.error_code, response.generation_id, response.members) == (error, -1, [])
    assert response.protocol_name == (None if version >= 7 else "")
    assert model.log == []
    assert not model.shard.state.groups


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("request_", [join(protocols={}), join(protocol_type="")], ids=["no protocols", "no type"])
def test_who_does_not_fit_into_a_new_group_is_refused_and_the_group_stays(
    request_: JoinGroupRequest, version: int
) -> None:
    model = GroupModel()
    assert model.ask(request_, version).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert model.state_name() == "Empty"
    assert len(model.log) == 1


REFUSED_BY_A_GROUP = [
    ("an unknown member id", join(member="who"), ErrorCode.UNKNOWN_MEMBER_ID),
    ("another protocol type", join(protocol_type="connect"), ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ("no common protocol", join(protocols={"sticky": b""}), ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ("an unknown instance with an id", join(member="who", instance="i"), ErrorCode.UNKNOWN_MEMBER_ID),
]


@pytest.mark.parametrize(
    ("what", "request_", "error"), REFUSED_BY_A_GROUP, ids=[what for what, *_ in REFUSED_BY_A_GROUP]
)
def test_stable_group_refuses_and_stays_stable(what: str, request_: object, error: ErrorCode) -> None:
    model = GroupModel()
    model.stabilise(2)
    assert model.error(request_) == error  # type: ignore[arg-type]
    assert model.state_name() == "Stable"


def test_pending_member_is_forgotten_after_its_session_timeout() -> None:
    model = GroupModel()
    member = model.ask(join()).member_id
    model.advance(SESSION_MS - 1)
    assert model.group().pending_member_ids == {member}
    model.advance(1)
    assert model.error(join(member=member)) == ErrorCode.UNKNOWN_MEMBER_ID


def test_rebalance_waits_for_a_pending_member_and_goes_on_when_it_gives_up() -> None:
    model = GroupModel()
    leader, follower = model.stabilise(2)
    model.ask(join())
    handles = [model.start_join(follower, protocols={"range": subscription("u")}), model.start_join(leader)]
    assert model.waiting == set(handles)
    model.advance(SESSION_MS)
    assert {model.answer(handle).generation_id for handle in handles} == {2}


def test_members_of_a_rebalance_are_told_together_and_only_the_leader_learns_the_others() -> None:
    model = GroupModel()
    leader, *followers = model.form(3)
    assert {response.leader for response in (leader, *followers)} == {leader.member_id}
    assert [len(response.members) for response in (leader, *followers)] == [3, 0, 0]
    assert len({response.generation_id for response in (leader, *followers)}) == 1


def test_join_waits_until_all_members_have_joined_again() -> None:
    model = GroupModel()
    (first,) = model.stabilise(1)
    second = model.start_join()
    assert second in model.waiting
    assert model.error(heartbeat("g", first, 1)) == ErrorCode.REBALANCE_IN_PROGRESS
    again = model.answer(model.start_join(first))
    assert (again.generation_id, model.answer(second).generation_id) == (2, 2)


def test_member_that_does_not_join_again_is_out_after_the_rebalance_timeout() -> None:
    model = GroupModel()
    (first,) = model.stabilise(1, session_ms=REBALANCE_MS * 2)
    second = model.start_join()
    model.advance(REBALANCE_MS - 1)
    assert second in model.waiting
    model.advance(1)
    response = model.answer(second)
    assert (response.leader, [m.member_id for m in response.members]) == (response.member_id, [response.member_id])
    assert model.error(heartbeat("g", first, 2)) == ErrorCode.UNKNOWN_MEMBER_ID


def test_rebalance_timeout_is_that_of_the_most_patient_member_and_in_version_0_the_session_timeout() -> None:
    model = GroupModel()
    model.stabilise(1, version=0, session_ms=30_000, rebalance_ms=1)
    second = model.start_join(rebalance_ms=7_000)
    model.advance(29_999)
    assert second in model.waiting
    model.advance(1)
    model.answer(second)


def test_new_member_that_waits_in_an_endless_rebalance_is_sent_away_to_try_again() -> None:
    model = GroupModel(new_member_join_timeout_ms=300_000)
    (first,) = model.stabilise(1, rebalance_ms=1_000_000, session_ms=1_000_000)
    second = model.start_join(rebalance_ms=1_000_000)
    model.advance(300_000)
    response = model.answer(second)
    assert (response.error_code, response.member_id) == (ErrorCode.UNKNOWN_MEMBER_ID, "")
    assert list(model.group().members) == [first]


def test_follower_that_asks_again_gets_its_generation_and_leader_forces_a_rebalance() -> None:
    model = GroupModel()
    leader, follower = model.stabilise(2)
    repeated = model.ask(join(member=follower))
    assert (repeated.generation_id, repeated.leader, repeated.members) == (1, leader, [])
    assert model.state_name() == "Stable"
    model.start_join(leader)
    assert model.state_name() == "PreparingRebalance"


def test_changed_metadata_forces_a_rebalance() -> None:
    model = GroupModel()
    _, follower = model.stabilise(2)
    model.start_join(follower, protocols={"range": subscription("t", "u")})
    assert model.state_name() == "PreparingRebalance"


def test_member_that_missed_the_answer_gets_it_again_while_the_leader_assigns() -> None:
    model = GroupModel()
    leader, follower = model.form(2)
    assert model.ask(join(member=leader.member_id)) == leader
    assert model.ask(join(member=follower.member_id)) == follower
    assert model.state_name() == "CompletingRebalance"
    model.start_join(follower.member_id, protocols={"range": subscription("u")})
    assert model.state_name() == "PreparingRebalance"


def test_join_that_is_sent_again_replaces_the_first_and_both_are_answered() -> None:
    model = GroupModel()
    leader, follower = model.stabilise(2)
    first = model.start_join(leader)
    second = model.start_join(leader)
    assert model.answer(first).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    model.start_join(follower)
    assert model.answer(second).generation_id == 2


@pytest.mark.parametrize(
    ("offers", "chosen"),
    [
        ([["a", "b"], ["a", "b"], ["b", "a"]], "a"),
        ([["a", "b"], ["b", "a"], ["b", "a"]], "b"),
        ([["x", "a", "b"], ["y", "b", "a"], ["b", "a", "z"]], "b"),
        ([["a"], ["b", "a"], ["b", "a"]], "a"),
    ],
)
def test_members_vote_for_the_first_protocol_that_all_support(offers: list[list[str]], chosen: str) -> None:
    model = GroupModel(initial_rebalance_delay_ms=1_000)
    metadata = [{name: f"{i}{name}".encode() for name in offer} for i, offer in enumerate(offers)]
    handles = [model.start_join(protocols=protocols) for protocols in metadata]
    model.advance(10_000)
    answers = [model.answer(handle) for handle in handles]
    assert {answer.protocol_name for answer in answers} == {chosen}
    leader = next(answer for answer in answers if answer.members)
    assert [member.metadata for member in leader.members] == [f"{i}{chosen}".encode() for i in range(3)]


# -- the first rebalance


def test_first_rebalance_waits_and_waits_longer_while_members_come() -> None:
    model = GroupModel(initial_rebalance_delay_ms=3_000)
    first = model.start_join()
    model.advance(2_999)
    second = model.start_join()
    model.advance(1)
    assert model.waiting == {first, second}
    model.advance(2_999)
    assert model.waiting == {first, second}
    model.advance(1)
    assert model.answer(first).generation_id == model.answer(second).generation_id == 1


def test_first_rebalance_is_never_delayed_beyond_the_rebalance_timeout() -> None:
    model = GroupModel(initial_rebalance_delay_ms=3_000)
    handles = [model.start_join(rebalance_ms=10_000)]
    for _ in range(9):
        model.advance(1_000)
        handles.append(model.start_join(rebalance_ms=10_000))
    assert model.waiting == set(handles)
    model.advance(1_000)
    assert {model.answer(handle).generation_id for handle in handles} == {1}


def test_first_rebalance_of_an_impatient_member_still_waits_once() -> None:
    model = GroupModel(initial_rebalance_delay_ms=3_000)
    handle = model.start_join(rebalance_ms=1)
    model.advance(2_999)
    assert handle in model.waiting
    model.advance(1)
    model.answer(handle)


def test_group_that_everybody_left_during_its_first_delay_is_empty_in_the_next_generation() -> None:
    model = GroupModel(initial_rebalance_delay_ms=3_000)
    handle = model.start_join()
    model.ask(leave("g", "client-1"))
    assert model.answer(handle).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    model.advance(3_000)
    assert (model.state_name(), model.group().generation_id) == ("Empty", 1)


# -- limits


def test_full_group_takes_nobody_but_its_members() -> None:
    model = GroupModel(max_members=2)
    leader, follower = model.stabilise(2)
    response = model.ask(join())
    assert (response.error_code, response.member_id) == (ErrorCode.GROUP_MAX_SIZE_REACHED, "")
    assert model.error(join(member=follower)) == ErrorCode.NONE
    handles = [model.start_join(leader), model.start_join(follower)]
    assert [model.answer(handle).error_code for handle in handles] == [0, 0]


def test_group_loaded_above_a_lowered_limit_rebalances_and_the_last_to_join_are_out() -> None:
    model = GroupModel()
    members = model.stabilise(3)
    model.settings = GroupModel(max_members=2).settings
    model.restart()
    assert model.state_name() == "PreparingRebalance"
    handles = [model.start_join(member) for member in members]
    assert [model.answer(handle).error_code for handle in handles] == [0, 0, ErrorCode.GROUP_MAX_SIZE_REACHED]
    assert len(model.group().members) == 2


def test_rebalance_that_only_absent_static_members_could_join_does_not_spin() -> None:
    model = GroupModel()
    model.stabilise(1, instance="i", rebalance_ms=300)
    passing = model.ask(join(rebalance_ms=300)).member_id
    model.start_join(passing, rebalance_ms=300)
    model.ask(leave("g", passing))
    model.advance(300)
    assert model.state_name() == "PreparingRebalance"
    assert (model.shard.next_deadline_ms() or 0) - model.now.monotonic_ms >= 1_000
    model.advance(SESSION_MS)
    assert model.state_name() == "Empty"


def test_member_that_never_asks_for_its_assignment_is_out_after_the_rebalance_timeout() -> None:
    model = GroupModel()
    leader, follower = model.form(2, session_ms=REBALANCE_MS * 2)
    model.ask(sync("g", leader.member_id, 1, {leader.member_id: b"all"}))
    assert model.error(heartbeat("g", follower.member_id, 1)) == ErrorCode.NONE
    model.advance(REBALANCE_MS)
    assert model.error(heartbeat("g", follower.member_id, 1)) == ErrorCode.UNKNOWN_MEMBER_ID
    assert model.error(heartbeat("g", leader.member_id, 1)) == ErrorCode.REBALANCE_IN_PROGRESS
