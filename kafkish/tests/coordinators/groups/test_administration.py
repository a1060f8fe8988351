"""ListGroups, DescribeGroups, DeleteGroups, and the end of groups by age."""

from typing import Any

import pytest

from kafkish.tests.coordinators.groups.group_model import GroupModel
from kafkish.tests.coordinators.groups.requests import (
    SESSION_MS,
    commit,
    delete,
    describe,
    heartbeat,
    join,
    leave,
    subscription,
)
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.list_groups import ListGroupsRequest

WEEK_MS = 7 * 24 * 60 * 60 * 1000
CHECK_MS = 600_000


def some_groups() -> GroupModel:
    """stable, preparing, and simple, which has offsets only."""
    model = GroupModel()
    model.stabilise(1, group="stable")
    model.stabilise(1, group="preparing", protocol_type="connect", protocols={"v1": b"x"})
    model.start_join(group="preparing", protocol_type="connect", protocols={"v1": b"x"})
    model.ask(commit("simple", {("t", 0): 1}))
    return model


@pytest.mark.parametrize("version", range(6))
def test_list_in_every_version(version: int) -> None:
    response = some_groups().ask(ListGroupsRequest(), version)
    listed = {(group.group_id, group.protocol_type, group.group_state, group.group_type) for group in response.groups}
    full = {
        ("stable", "consumer", "Stable", "classic"),
        ("preparing", "connect", "PreparingRebalance", "classic"),
        ("simple", "", "Empty", "classic"),
    }
    assert listed == {(i, p, s if version >= 4 else "", t if version >= 5 else "") for i, p, s, t in full}


@pytest.mark.parametrize(
    ("states", "types", "listed"),
    [
        ([], [], {"stable", "preparing", "simple"}),
        (["Stable"], [], {"stable"}),
        ([" sTABLE ", "empty"], [], {"stable", "simple"}),
        (["Nonsense"], [], set()),
        ([], ["Classic"], {"stable", "preparing", "simple"}),
        ([], ["consumer"], set()),
        ([], ["consumer", "classic"], {"stable", "preparing", "simple"}),
        (["Empty"], ["CLASSIC"], {"simple"}),
        ([], ["nonsense"], set()),
    ],
)
def test_list_filters_by_state_and_type(states: list[str], types: list[str], listed: set[str]) -> None:
    request = ListGroupsRequest(states_filter=states, types_filter=types)
    assert {group.group_id for group in some_groups().ask(request).groups} == listed


@pytest.mark.parametrize("version", range(7))
def test_describe_shows_what_members_said_verbatim_while_it_is_in_force(version: int) -> None:
    model = GroupModel()
    leader, follower = model.stabilise(2, protocols={"range": b"\xffanything"})
    (described,) = model.ask(describe("g"), version).groups
    assert (described.error_code, described.group_state, described.protocol_type) == (0, "Stable", "consumer")
    assert described.protocol_data == "range"
    assert [(m.member_id, m.member_metadata, m.member_assignment) for m in described.members] == [
        (leader, b"\xffanything", leader.encode()),
        (follower, b"\xffanything", follower.encode()),
    ]
    assert {(m.client_id, m.client_host) for m in described.members} == {("client", "/127.0.0.1")}
    model.start_join(leader, protocols={"range": b"\xffanything"})
    (described,) = model.ask(describe("g"), version).groups
    assert (described.group_state, described.protocol_data) == ("PreparingRebalance", "")
    assert [m.member_metadata for m in described.members] == [b"", b""]


@pytest.mark.parametrize("version", range(7))
def test_group_that_does_not_exist_is_dead_and_from_version_6_on_an_error(version: int) -> None:
    found, missing = GroupModel(), "none"
    (described,) = found.ask(describe(missing), version).groups
    assert (described.group_id, described.group_state, described.members) == (missing, "Dead", [])
    expected = (ErrorCode.GROUP_ID_NOT_FOUND, "Group none not found.") if version >= 6 else (0, None)
    assert (described.error_code, described.error_message) == expected


def test_describe_answers_in_order_and_for_each_name() -> None:
    names = ["simple", "none", "stable", "simple"]
    assert [group.group_id for group in some_groups().ask(describe(*names)).groups] == names


# -- DeleteGroups


@pytest.mark.parametrize("version", range(3))
def test_only_groups_without_members_can_be_deleted(version: int) -> None:
    model = some_groups()
    response = model.ask(delete("simple", "stable", "preparing", "none", "simple"), version)
    assert [(result.group_id, result.error_code) for result in response.results] == [
        ("simple", 0),
        ("stable", ErrorCode.NON_EMPTY_GROUP),
        ("preparing", ErrorCode.NON_EMPTY_GROUP),
        ("none", ErrorCode.GROUP_ID_NOT_FOUND),
    ]
    assert model.committed("simple") == {}
    assert model.state_name("simple") == "Dead"


def test_deleted_group_is_gone_after_a_restart_too_and_may_be_made_again() -> None:
    model = GroupModel()
    (member,) = model.stabilise(1)
    model.ask(commit("g", {("t", 0): 1, ("u", 3): 1}, member=member, generation=1))
    model.ask(leave("g", member))
    model.ask(delete("g"))
    assert model.durable() == ({}, {})
    model.restart()
    assert model.state_name() == "Dead"
    assert model.form(1)[0].generation_id == 1


def test_delete_that_is_not_stored_deletes_nothing() -> None:
    model = some_groups()
    model.refuse_writes_with = ErrorCode.NOT_ENOUGH_REPLICAS
    (result,) = model.ask(delete("simple")).results
    assert result.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    model.refuse_writes_with = None
    assert model.committed("simple") == {("t", 0): 1}


def test_commit_that_is_still_on_its_way_does_not_bring_a_deleted_group_back() -> None:
    model = GroupModel(commits_at_once=False)
    model.start(commit("g", {("t", 0): 1}))
    model.start(delete("g"))
    model.commit()
    assert model.durable() == ({}, {})


def test_pending_member_of_a_deleted_group_has_to_start_anew() -> None:
    model = GroupModel()
    pending = model.ask(join()).member_id
    assert model.ask(delete("g")).results[0].error_code == ErrorCode.NONE
    assert model.error(join(member=pending)) == ErrorCode.UNKNOWN_MEMBER_ID
    model.advance(SESSION_MS)
    assert not model.shard.state.groups


# -- age (KIP-211)


def live_for(model: GroupModel, member: str, duration_ms: int) -> None:
    for _ in range(0, duration_ms, 1_700_000):
        model.advance(1_700_000)
        assert model.error(heartbeat("g", member, 1)) == ErrorCode.NONE


def test_offsets_of_a_group_without_members_expire_after_the_retention_since_it_is_empty() -> None:
    model = GroupModel()
    (member,) = model.stabilise(1, session_ms=1_800_000)
    model.ask(commit("g", {("t", 0): 1}, member=member, generation=1))
    live_for(model, member, 2 * WEEK_MS)
    model.ask(leave("g", member))
    model.advance(WEEK_MS - CHECK_MS)
    assert model.committed() == {("t", 0): 1}
    model.advance(2 * CHECK_MS)
    assert (model.committed(), model.state_name()) == ({}, "Dead")


def test_offsets_without_members_expire_after_the_retention_since_their_commit() -> None:
    model = GroupModel()
    model.ask(commit("g", {("t", 0): 1}))
    model.advance(WEEK_MS // 2)
    model.ask(commit("g", {("t", 1): 1}))
    model.advance(WEEK_MS // 2 + CHECK_MS)
    assert model.committed() == {("t", 1): 1}
    model.advance(WEEK_MS // 2)
    assert model.state_name() == "Dead"


def test_consumers_keep_what_they_read_and_lose_what_they_do_not() -> None:
    model = GroupModel()
    (member,) = model.stabilise(1, session_ms=1_800_000, protocols={"range": subscription("t")})
    model.ask(commit("g", {("t", 0): 1, ("u", 0): 1}, member=member, generation=1))
    live_for(model, member, WEEK_MS + CHECK_MS)
    assert model.committed() == {("t", 0): 1}
    assert model.state_name() == "Stable"


@pytest.mark.parametrize("options", [{"protocol_type": "connect"}, {"protocols": {"range": b"unreadable"}}])
def test_nothing_expires_while_members_of_whom_nothing_is_known_are_there(options: dict[str, Any]) -> None:
    model = GroupModel()
    (member,) = model.stabilise(1, session_ms=1_800_000, **options)
    model.ask(commit("g", {("t", 0): 1}, member=member, generation=1))
    live_for(model, member, WEEK_MS + CHECK_MS)
    assert model.committed() == {("t", 0): 1}


def test_retention_that_an_old_client_asked_for_holds_instead() -> None:
    model = GroupModel()
    model.ask(commit("g", {("t", 0): 1}, retention_ms=CHECK_MS // 2), 4)
    model.ask(commit("g", {("t", 1): 1}, retention_ms=2 * WEEK_MS), 4)
    model.advance(CHECK_MS)
    assert model.committed() == {("t", 1): 1}
    model.advance(WEEK_MS + CHECK_MS)
    assert model.committed() == {("t", 1): 1}
    model.advance(WEEK_MS)
    assert model.committed() == {}


def test_empty_group_without_offsets_goes_at_the_next_look_but_not_under_a_pending_member() -> None:
    model = GroupModel()
    (member,) = model.stabilise(1)
    model.ask(leave("g", member))
    model.advance(CHECK_MS - model.now.monotonic_ms + 1_000 - 5)
    pending = model.ask(join()).member_id
    model.advance(10)
    assert model.group().pending_member_ids == {pending}
    model.advance(CHECK_MS)
    assert model.state_name() == "Dead"


def test_many_offsets_expire_in_slices_and_in_writes_that_fit_a_batch() -> None:
    model = GroupModel(offsets_retention_ms=CHECK_MS)
    for group in range(30):
        model.ask(commit(f"g{group}", {("t", partition): 1 for partition in range(700)}))
    before = len(model.log)
    model.advance(2 * CHECK_MS)
    assert len(model.log) - before == 30 * 701
    assert model.durable() == ({}, {})
    assert model.largest_write <= 1_000


def test_expiry_that_could_not_be_written_is_tried_again() -> None:
    model = GroupModel()
    model.ask(commit("g", {("t", 0): 1}))
    model.refuse_writes_with = ErrorCode.NOT_ENOUGH_REPLICAS
    model.advance(WEEK_MS + CHECK_MS)
    assert model.committed() == {("t", 0): 1}
    model.refuse_writes_with = None
    model.advance(CHECK_MS)
    assert model.committed() == {}
