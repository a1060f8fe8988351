"""What a new coordinator knows, what the old one says, and what happens when the log says no."""

from itertools import product

import pytest

from kafkish.coordinators.groups.refusals import refuse
from kafkish.coordinators.groups.shard import OPERATIONS
from kafkish.tests.coordinators.groups import requests
from kafkish.tests.coordinators.groups.group_model import INITIAL_DELAY_MS, NEWEST, GroupModel
from kafkish.tests.coordinators.groups.requests import SESSION_MS, commit, fetch, heartbeat, join, leave, sync
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.list_groups import ListGroupsRequest
from kafkish_protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from kafkish_protocol.schema import Request
from kafkish_protocol.stored.offset_commit import LegacyOffsetCommitKey, LegacyOffsetCommitValue


def test_stable_group_survives_with_members_assignments_and_offsets() -> None:
    model = GroupModel()
    leader, follower = model.stabilise(2)
    model.ask(commit("g", {("t", 0): 5}, member=leader, generation=1))
    before = model.durable()
    model.restart()
    assert model.durable() == before
    assert model.state_name() == "Stable"
    assert model.error(heartbeat("g", follower, 1)) == ErrorCode.NONE
    assert model.ask(sync("g", follower, 1)).assignment == follower.encode()
    assert model.committed() == {("t", 0): 5}


def test_sessions_begin_anew_with_the_new_coordinator() -> None:
    model = GroupModel()
    leader, _ = model.stabilise(2)
    model.advance(SESSION_MS - 1)
    model.restart()
    model.advance(SESSION_MS - 1)
    assert model.state_name() == "Stable"
    model.ask(heartbeat("g", leader, 1))
    model.advance(1)
    assert list(model.group().members) == [leader]


def test_generation_that_was_never_stored_is_unknown_to_the_new_coordinator() -> None:
    model = GroupModel()
    leader, follower = model.stabilise(2)
    handles = [model.start_join(leader), model.start_join(follower)]
    assert [model.answer(handle).generation_id for handle in handles] == [2, 2]
    model.restart()
    assert model.error(heartbeat("g", leader, 2)) == ErrorCode.ILLEGAL_GENERATION
    assert model.error(sync("g", leader, 2)) == ErrorCode.ILLEGAL_GENERATION
    answer = model.ask(commit("g", {("t", 0): 1}, member=leader, generation=2))
    assert answer.topics[0].partitions[0].error_code == ErrorCode.ILLEGAL_GENERATION


def test_loaded_members_can_rejoin_with_their_protocol_and_are_still_static() -> None:
    model = GroupModel()
    (member,) = model.stabilise(1, instance="i", protocols={"range": b"r", "sticky": b"s"})
    model.restart()
    assert model.error(heartbeat("g", "other", 1, instance="i")) == ErrorCode.FENCED_INSTANCE_ID
    handle = model.start_join(member, instance="i", protocols={"range": b"r", "sticky": b"s"})
    assert (model.answer(handle).generation_id, model.answer(handle).protocol_name) == (2, "range")


def test_whoever_waits_is_told_that_the_coordinator_has_moved() -> None:
    model = GroupModel(commits_at_once=False)
    leader, follower = (response.member_id for response in model.form(2, group="syncing"))
    waiting = [model.start(sync("syncing", follower, 1)), model.start(sync("syncing", leader, 1))]
    waiting += [model.start_join(group="joining", instance="i")]
    committing, fetching = model.start(commit("simple", {("t", 0): 1})), model.start(fetch("simple", None))
    assert model.waiting == {*waiting, committing, fetching}
    model.resign()
    told = [model.answer(handle).error_code for handle in waiting]
    told.append(model.answer(committing).topics[0].partitions[0].error_code)
    told.append(model.answer(fetching).groups[0].error_code)
    assert set(told) == {ErrorCode.NOT_COORDINATOR}
    assert model.answer(waiting[-1]).member_id.startswith("i-")


def test_resigned_shard_has_no_timers_that_matter() -> None:
    model = GroupModel()
    model.form(3)
    model.resign()
    model.advance(10 * SESSION_MS)
    assert not model.shard.state.groups


def test_group_that_the_log_refuses_is_not_made_and_its_member_is_told() -> None:
    model = GroupModel()
    model.refuse_writes_with = ErrorCode.NOT_ENOUGH_REPLICAS
    response = model.ask(join(instance="i"))
    assert (response.error_code, response.member_id) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, "")
    assert not model.shard.state.groups
    model.advance(10 * SESSION_MS)
    model.refuse_writes_with = None
    assert model.form(1)[0].generation_id == 1


def test_group_whose_creation_takes_long_goes_on() -> None:
    model = GroupModel(commits_at_once=False)
    handle = model.start_join()
    model.time_out_writes()
    model.advance(INITIAL_DELAY_MS)
    assert model.answer(handle).generation_id == 1


def test_emptiness_that_could_not_be_stored_is_found_out_again() -> None:
    model = GroupModel()
    (member,) = model.stabilise(1)
    model.refuse_writes_with = ErrorCode.NOT_ENOUGH_REPLICAS
    model.ask(leave("g", member))
    assert model.state_name() == "Empty"
    model.refuse_writes_with = None
    model.restart()
    assert model.state_name() == "Stable"
    model.advance(SESSION_MS)
    assert model.state_name() == "Empty"


def test_offsets_that_ancient_brokers_wrote_are_read() -> None:
    model = GroupModel()
    key = LegacyOffsetCommitKey(group="g", topic="t", partition=3)
    model.shard.replay(key, LegacyOffsetCommitValue(offset=9, metadata="m", commit_timestamp=model.now.wall_ms))
    assert model.committed() == {("t", 3): 9}
    model.shard.replay(key, None)
    assert model.committed() == {}


@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_commit_delete_and_expiry_reads_back_the_same(seed: int) -> None:
    """Row 14: the committed offset does not change by a restart that no client asked for."""
    steps = ["commit 0", "commit 1", "delete 0", "expire", "delete group", "commit old"]
    for order in product(steps, repeat=4):
        model = GroupModel(offsets_retention_ms=500_000 * (seed + 1))
        for number, step in enumerate(order):
            match step:
                case "delete 0":
                    model.ask(requests.delete_offsets("g", {"t": [0]}))
                case "delete group":
                    model.ask(requests.delete("g"))
                case "expire":
                    model.advance(600_000)
                case "commit old":
                    model.ask(commit("g", {("t", 0): number}, retention_ms=1_000), 3)
                case _:
                    model.ask(commit("g", {("t", int(step[-1])): number}))
        before = model.durable()
        model.restart()
        assert model.durable() == before, order


ANY_REQUEST: list[Request] = [
    join(),
    sync("g", "m", 1),
    heartbeat("g", "m", 1),
    leave("g", "m"),
    commit("g", {("t", 0): 1, ("t", 1): 2}),
    fetch("g", {"t": [0, 1]}),
    requests.delete_offsets("g", {"t": [0]}),
    requests.describe("g", "h"),
    requests.delete("g", "h", "g"),
    ListGroupsRequest(),
]


@pytest.mark.parametrize("request_", ANY_REQUEST, ids=lambda request: type(request).__name__)
def test_every_request_of_the_shard_can_be_refused_in_every_version(request_: Request) -> None:
    schema = type(request_).schema
    for version, error in product(schema.versions, (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)):
        if isinstance(request_, OffsetFetchRequest) and version < 8:
            asked = [OffsetFetchRequestTopic(name="t", partition_indexes=[0, 1])]
            request_ = OffsetFetchRequest(group_id="g", topics=asked)
        elif isinstance(request_, OffsetFetchRequest):
            request_ = fetch("g", {"t": [0, 1]})
        response = refuse(request_, version, error)
        shown = repr(type(response).decode(response.encode(version), version))
        is_calmed = type(request_).__name__ == "HeartbeatRequest" and error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        assert (f"error_code={int(error)}" in shown) != is_calmed


def test_table_of_refusals_is_that_of_operations() -> None:
    assert {type(request) for request in ANY_REQUEST} == set(OPERATIONS)
    assert {operation.__name__ for operation in OPERATIONS} == set(NEWEST)
