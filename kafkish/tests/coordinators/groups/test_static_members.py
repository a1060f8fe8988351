"""Static members (KIP-345): the same place under a new id, and nobody else in it."""

import pytest

from kafkish.tests.coordinators.groups.group_model import INITIAL_DELAY_MS, GroupModel
from kafkish.tests.coordinators.groups.requests import (
    REBALANCE_MS,
    SESSION_MS,
    commit,
    heartbeat,
    join,
    leave,
    subscription,
    sync,
)
from kafkish_protocol.error_codes import ErrorCode


def stable(model: GroupModel, *instances: str, session_ms: int = SESSION_MS) -> dict[str, str]:
    """A stable group of static members: instance id -> member id. The first one leads."""
    handles = {instance: model.start_join(instance=instance, session_ms=session_ms) for instance in instances}
    model.advance(2 * INITIAL_DELAY_MS)
    members = {instance: model.answer(handle).member_id for instance, handle in handles.items()}
    assignments = {member: instance.encode() for instance, member in members.items()}
    leader = members[instances[0]]
    assert model.group().leader_id == leader
    model.ask(sync("g", leader, 1, assignments, instance=instances[0]))
    for instance in instances[1:]:
        model.ask(sync("g", members[instance], 1, instance=instance))
    return members


@pytest.mark.parametrize("version", range(5, 10))
def test_follower_that_restarts_gets_its_assignment_back_without_a_rebalance(version: int) -> None:
    model = GroupModel()
    members = stable(model, "a", "b")
    response = model.ask(join(instance="b"), version)
    assert (response.error_code, response.generation_id, response.leader) == (0, 1, members["a"])
    assert response.member_id not in members.values()
    assert response.member_id.startswith("b-")
    assert (response.members, response.skip_assignment) == ([], False)
    assert model.ask(sync("g", response.member_id, 1, instance="b")).assignment == b"b"
    assert model.state_name() == "Stable"


@pytest.mark.parametrize("version", range(5, 9))
def test_leader_that_restarts_takes_itself_for_a_follower_before_version_9(version: int) -> None:
    model = GroupModel()
    members = stable(model, "a", "b")
    response = model.ask(join(instance="a"), version)
    assert (response.leader, response.members) == (members["a"], [])
    assert model.group().leader_id == response.member_id


def test_leader_that_restarts_is_told_that_it_leads_and_need_not_assign() -> None:
    model = GroupModel()
    members = stable(model, "a", "b")
    response = model.ask(join(instance="a"), 9)
    assert (response.leader, response.skip_assignment) == (response.member_id, True)
    assert {member.member_id for member in response.members} == {response.member_id, members["b"]}
    assert model.ask(sync("g", response.member_id, 1, instance="a")).assignment == b"a"


def test_former_self_is_fenced_everywhere() -> None:
    model = GroupModel()
    former = stable(model, "a", "b")["b"]
    model.ask(join(instance="b"))
    fenced = ErrorCode.FENCED_INSTANCE_ID
    assert model.error(heartbeat("g", former, 1, instance="b")) == fenced
    assert model.error(sync("g", former, 1, instance="b")) == fenced
    assert model.error(join(member=former, instance="b")) == fenced
    answer = model.ask(commit("g", {("t", 0): 1}, member=former, generation=1, instance="b"))
    assert answer.topics[0].partitions[0].error_code == fenced
    assert model.ask(leave("g", (former, "b"))).members[0].error_code == fenced
    assert model.error(heartbeat("g", former, 1)) == ErrorCode.UNKNOWN_MEMBER_ID


def test_two_processes_with_one_instance_id_the_waiting_one_is_fenced_at_once() -> None:
    model = GroupModel()
    members = stable(model, "a", "b")
    joining = model.start_join(members["a"], instance="a")
    model.start_join(instance="a")
    assert (model.answer(joining).error_code, model.answer(joining).member_id) == (
        ErrorCode.FENCED_INSTANCE_ID,
        members["a"],
    )
    model = GroupModel()
    leader = model.start_join(instance="a")
    follower = model.start_join(instance="b")
    model.advance(2 * INITIAL_DELAY_MS)
    model.answer(leader)
    syncing = model.start(sync("g", model.answer(follower).member_id, 1, instance="b"))
    model.start_join(instance="b")
    assert model.answer(syncing).error_code == ErrorCode.FENCED_INSTANCE_ID


def test_restart_while_the_leader_assigns_begins_a_rebalance() -> None:
    """Row 16: the leader assigns to the old id, so the new one would go without."""
    model = GroupModel()
    handles = [model.start_join(instance=instance) for instance in "ab"]
    model.advance(2 * INITIAL_DELAY_MS)
    leader = model.answer(handles[0]).member_id
    rejoining = model.start_join(instance="b")
    assert model.state_name() == "PreparingRebalance"
    again = model.start_join(leader, instance="a")
    assert {model.answer(handle).generation_id for handle in (rejoining, again)} == {2}


def test_restart_during_a_rebalance_joins_it() -> None:
    model = GroupModel()
    members = stable(model, "a", "b")
    leader = model.start_join(members["a"], instance="a")
    follower = model.start_join(instance="b")
    assert {model.answer(handle).generation_id for handle in (leader, follower)} == {2}


def test_restart_that_changes_the_chosen_protocol_rebalances() -> None:
    model = GroupModel()
    offer = {"range": subscription("t"), "sticky": subscription("t")}
    model.stabilise(1, instance="a", protocols=offer)
    handle = model.start_join(instance="a", protocols=dict(reversed(offer.items())))
    assert (model.answer(handle).generation_id, model.answer(handle).protocol_name) == (2, "sticky")


def test_restart_is_answered_when_the_new_id_is_committed_and_survives_the_coordinator() -> None:
    model = GroupModel()
    stable(model, "a", "b")
    model.commits_at_once = False
    handle = model.start_join(instance="b")
    assert handle in model.waiting
    model.commit()
    member = model.answer(handle).member_id
    model.restart()
    assert model.error(heartbeat("g", member, 1, instance="b")) == ErrorCode.NONE
    assert model.group().members[member].assignment == b"b"


def test_restart_that_is_overtaken_by_a_rebalance_is_part_of_it() -> None:
    model = GroupModel()
    members = stable(model, "a", "b")
    model.commits_at_once = False
    restarting = model.start_join(instance="b")
    leader = model.start_join(members["a"], instance="a")
    model.commit()
    assert {model.answer(handle).generation_id for handle in (restarting, leader)} == {2}


def test_restart_that_cannot_be_stored_is_refused_and_works_when_tried_again() -> None:
    model = GroupModel()
    stable(model, "a", "b")
    model.refuse_writes_with = ErrorCode.NOT_ENOUGH_REPLICAS
    response = model.ask(join(instance="b"))
    assert (response.error_code, response.member_id) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, "")
    model.refuse_writes_with = None
    response = model.ask(join(instance="b"))
    assert response.generation_id == 1
    assert model.ask(sync("g", response.member_id, 1, instance="b")).assignment == b"b"


def test_restarted_member_has_a_session_again_however_long_its_join_took() -> None:
    model = GroupModel()
    members = stable(model, "a", "b")
    model.commits_at_once = False
    handle = model.start_join(instance="b")
    for _ in range(4):
        model.advance(SESSION_MS // 2)
        model.ask(heartbeat("g", members["a"], 1, instance="a"))
    model.commit()
    member = model.answer(handle).member_id
    model.advance(SESSION_MS // 2)
    model.ask(heartbeat("g", members["a"], 1, instance="a"))
    assert member in model.group().members
    model.advance(SESSION_MS // 2)
    assert member not in model.group().members


def test_absent_static_member_keeps_its_place_in_the_next_generation_but_not_for_ever() -> None:
    model = GroupModel()
    members = stable(model, "a", "b", session_ms=3 * REBALANCE_MS)
    handle = model.start_join(members["a"], instance="a", session_ms=3 * REBALANCE_MS)
    model.advance(REBALANCE_MS)
    response = model.answer(handle)
    assert response.generation_id == 2
    assert {member.member_id for member in response.members} == set(members.values())
    model.ask(sync("g", members["a"], 2, {members["b"]: b"kept"}, instance="a"))
    assert model.state_name() == "Stable"
    model.advance(REBALANCE_MS)
    assert list(model.group().members) == [members["a"]]


def test_static_member_that_leaves_by_instance_id_frees_it() -> None:
    model = GroupModel()
    members = stable(model, "a", "b")
    assert model.ask(leave("g", ("", "b"))).members[0].error_code == ErrorCode.NONE
    assert model.error(heartbeat("g", members["b"], 1, instance="b")) == ErrorCode.UNKNOWN_MEMBER_ID
    handles = [model.start_join(members["a"], instance="a")]
    assert model.answer(handles[0]).generation_id == 2


def test_instance_id_with_a_foreign_member_id_is_fenced_and_an_unknown_one_unknown() -> None:
    model = GroupModel()
    members = stable(model, "a", "b")
    assert model.error(join(member=members["a"], instance="b")) == ErrorCode.FENCED_INSTANCE_ID
    assert model.error(join(member=members["a"], instance="c")) == ErrorCode.UNKNOWN_MEMBER_ID


def test_pending_member_that_comes_back_as_a_static_one_is_unknown() -> None:
    model = GroupModel()
    pending = model.ask(join()).member_id
    assert model.error(join(member=pending, instance="i")) == ErrorCode.UNKNOWN_MEMBER_ID
