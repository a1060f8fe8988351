"""A coordinator on its node: elections, writes, answers, time."""

import logging
from itertools import count
from typing import Any, cast

import pytest

from kafkish.coordinators.groups.shard import REPLAYS, GroupShard
from kafkish.deferred import Deferred
from kafkish.tests.coordinators.group_node import PARTITIONS, GroupNode, error_of, group_in
from kafkish.tests.coordinators.groups import requests
from kafkish.tests.coordinators.groups.group_model import INITIAL_DELAY_MS
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.list_groups import ListGroupsRequest
from kafkish_protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from kafkish_protocol.records import Batch, Compression
from kafkish_protocol.stored.offset_commit import OffsetCommitKey

# -- writes


def test_commit_is_one_batch_in_the_partition_of_its_group(node: GroupNode) -> None:
    group = group_in(2, node)
    offsets = {("t", 0): 5, ("t", 1): 6}
    assert error_of(node.ask(requests.commit(group, offsets))) == ErrorCode.NONE
    assert [len(log.batches) for log in node.logs] == [0, 0, 1, 0]
    batch = Batch(node.logs[2].batches[0])
    assert (batch.count, batch.max_timestamp) == (2, node.time.now.wall_ms)


def test_records_are_packed_as_the_operator_wants() -> None:
    node = GroupNode(compression=Compression.GZIP)
    node.elect()
    node.commit("g", 5)
    assert [Batch(batch).compression for log in node.logs for batch in log.batches] == [Compression.GZIP]
    assert node.committed("g") == 5


def test_answer_waits_for_the_high_watermark(slow_node: GroupNode) -> None:
    group = group_in(0, slow_node)
    first, second = slow_node.commit(group, 1), slow_node.commit(group, 2)
    read = slow_node.start(requests.fetch(group, {"t": [0]}))
    slow_node.logs[0].commit(1)
    assert [answer.is_done for answer in (first, second, read)] == [True, False, False]
    slow_node.logs[0].commit()
    assert error_of(second.result()) == ErrorCode.NONE
    assert read.result().groups[0].topics[0].partitions[0].committed_offset == 2


def test_slow_write_times_out_and_its_records_stay(slow_node: GroupNode) -> None:
    group = group_in(0, slow_node)
    first = slow_node.commit(group, 1)
    slow_node.time.advance(3_000)
    second = slow_node.commit(group, 2)
    slow_node.time.advance(2_000)
    assert error_of(first.result()) == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert not second.is_done
    slow_node.logs[0].commit()
    assert error_of(second.result()) == ErrorCode.NONE
    assert slow_node.committed(group) == 2


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
    ],
)
def test_refused_write_changes_nothing(node: GroupNode, refusal: ErrorCode, told: ErrorCode) -> None:
    group = group_in(0, node)
    node.logs[0].refuse_with = refusal
    assert error_of(node.commit(group, 1).result()) == told
    node.logs[0].refuse_with = None
    assert node.committed(group) == -1


def test_write_larger_than_a_batch_may_be_is_refused_before_the_log_sees_it(node: GroupNode) -> None:
    group = group_in(0, node)
    node.logs[0].max_batch_bytes = 100
    assert error_of(node.commit(group, 1).result()) == ErrorCode.UNKNOWN_SERVER_ERROR
    assert node.logs[0].batches == []


def test_request_that_an_append_brings_about_waits_its_turn(node: GroupNode) -> None:
    """An append may wake up a fetch, whose answer lets its connection send what is next."""
    group = group_in(0, node)
    log, nested = node.logs[0], list[Deferred[Any]]()

    def commit_again() -> None:
        if not nested:
            nested.append(node.commit(group, 2))

    log.on_append = commit_again
    assert error_of(node.commit(group, 1).result()) == ErrorCode.NONE
    assert error_of(nested[0].result()) == ErrorCode.NONE
    assert node.committed(group) == 2


def test_request_that_an_answer_brings_about_waits_its_turn(slow_node: GroupNode) -> None:
    group = group_in(0, slow_node)
    first, nested = slow_node.commit(group, 1), list[Deferred[Any]]()
    first.on_done(lambda _: nested.extend(slow_node.commit(group, offset) for offset in (2, 3)))
    slow_node.logs[0].commit()
    assert [answer.is_done for answer in nested] == [False, False]
    slow_node.logs[0].commit()
    assert [error_of(answer.result()) for answer in nested] == [ErrorCode.NONE] * 2


# -- time


def test_members_join_when_the_delay_is_over_and_leave_when_they_are_silent(node: GroupNode) -> None:
    group = group_in(0, node)
    member = node.ask(requests.join(group, "")).member_id
    joining = node.start(requests.join(group, member, session_ms=6_000))
    assert not joining.is_done
    node.time.advance(INITIAL_DELAY_MS)
    assert joining.result().generation_id == 1
    node.ask(requests.sync(group, member, 1, {member: b"all"}))
    node.time.advance(5_999)
    assert node.ask(requests.heartbeat(group, member, 1)).error_code == ErrorCode.NONE
    node.time.advance(5_999)
    assert node.ask(requests.describe(group)).groups[0].group_state == "Stable"
    node.time.advance(1)
    assert node.ask(requests.describe(group)).groups[0].group_state == "Empty"


def test_heartbeats_do_not_pile_up_timers(node: GroupNode) -> None:
    group = group_in(0, node)
    member = node.ask(requests.join(group, "")).member_id
    node.start(requests.join(group, member))
    node.time.advance(INITIAL_DELAY_MS)
    for _ in range(100):
        node.ask(requests.heartbeat(group, member, 1))
    assert node.time.pending <= PARTITIONS


# -- elections


def test_groups_of_partitions_led_elsewhere_are_not_coordinated_here(node: GroupNode) -> None:
    node.groups.resign(1, 2)
    assert error_of(node.commit(group_in(1, node), 1).result()) == ErrorCode.NOT_COORDINATOR
    assert error_of(node.commit(group_in(2, node), 1).result()) == ErrorCode.NONE


def test_next_leader_remembers(node: GroupNode) -> None:
    group = group_in(0, node)
    node.commit(group, 7)
    node.groups.resign(0, 2)
    node.elect(0, epoch=3)
    node.time.turn()
    assert node.committed(group) == 7


def test_resignation_answers_all_who_wait(slow_node: GroupNode) -> None:
    group, log = group_in(0, slow_node), slow_node.logs[0]
    commit = slow_node.commit(group, 1)
    first = slow_node.start(requests.join(group, ""))
    log.commit()
    joining = slow_node.start(requests.join(group, first.result().member_id))
    read = slow_node.commit(next(name for name in map(str, count()) if slow_node.groups.partition_of(name) == 0), 1)
    slow_node.groups.resign(0, 2)
    assert error_of(commit.result()) == ErrorCode.NONE
    assert joining.result().error_code == ErrorCode.NOT_COORDINATOR
    assert error_of(read.result()) == ErrorCode.NOT_COORDINATOR
    assert log.listeners == []


def test_resignation_in_the_middle_of_an_append_answers_not_coordinator(node: GroupNode) -> None:
    group = group_in(0, node)
    node.logs[0].commits_at_once = False
    node.logs[0].on_append = lambda: node.groups.resign(0, 2)
    assert error_of(node.commit(group, 1).result()) == ErrorCode.NOT_COORDINATOR


def test_news_of_old_epochs_are_ignored(node: GroupNode) -> None:
    group = group_in(0, node)
    node.commit(group, 1)
    node.elect(0, epoch=5)
    node.groups.resign(0, 4)
    node.elect(0, epoch=3)
    assert node.committed(group) == 1
    assert len(node.logs[0].listeners) == 1
    node.groups.resign(0)
    assert error_of(node.commit(group, 1).result()) == ErrorCode.NOT_COORDINATOR


def test_stopped_node_leaves_no_timer_behind(node: GroupNode) -> None:
    node.start(requests.join("g", node.ask(requests.join("g", "")).member_id))
    node.groups.stop()
    assert node.time.pending == 0


# -- several groups


def test_requests_about_several_groups_are_answered_from_all_partitions_in_their_order(node: GroupNode) -> None:
    names = [group_in(index, node) for index in (3, 0, 2, 1)]
    for i, name in enumerate(names):
        node.commit(name, i)
    described = node.ask(requests.describe(*names)).groups
    assert [(group.group_id, group.group_state) for group in described] == [(name, "Empty") for name in names]
    assert {group.group_id for group in node.ask(ListGroupsRequest()).groups} == set(names)
    deleted = node.ask(requests.delete(*names)).results
    assert [(result.group_id, result.error_code) for result in deleted] == [(name, 0) for name in names]
    assert node.ask(ListGroupsRequest()).groups == []


def test_request_about_no_group_is_answered_with_nothing(node: GroupNode) -> None:
    assert node.ask(requests.describe()).groups == []
    assert node.ask(requests.delete()).results == []


def test_node_without_partitions_lists_no_groups() -> None:
    assert GroupNode().ask(ListGroupsRequest()).error_code == ErrorCode.NONE


def test_old_versions_of_offset_fetch_ask_about_one_group(node: GroupNode) -> None:
    group = group_in(1, node)
    node.commit(group, 4)
    topics = [OffsetFetchRequestTopic(name="t", partition_indexes=[0])]
    answer = node.ask(OffsetFetchRequest(group_id=group, topics=topics), 7)
    assert answer.topics[0].partitions[0].committed_offset == 4


# -- mistakes of a shard


def test_request_that_fails_is_answered_and_others_go_on(node: GroupNode, monkeypatch: pytest.MonkeyPatch) -> None:
    group = group_in(0, node)
    node.commit(group, 1)
    with monkeypatch.context() as patch:
        patch.setattr(GroupShard, "handle", lambda *_: 1 / 0)
        assert error_of(node.commit(group, 2).result()) == ErrorCode.UNKNOWN_SERVER_ERROR
    assert node.committed(group) == 1


def test_shard_that_fails_is_loaded_again(
    node: GroupNode, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    group = group_in(0, node)
    node.commit(group, 1)
    caplog.set_level(logging.ERROR)
    with monkeypatch.context() as patch:
        patch.setitem(cast("dict[Any, Any]", REPLAYS), OffsetCommitKey, lambda *_: 1 / 0)
        assert error_of(node.commit(group, 2).result()) == ErrorCode.NOT_COORDINATOR
    assert "loaded again" in caplog.text
    assert error_of(node.commit(group, 3).result()) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    node.time.advance(1_000)
    assert node.committed(group) == 2


def test_answer_that_cannot_be_delivered_harms_nobody(slow_node: GroupNode) -> None:
    group = group_in(0, slow_node)
    first, second = slow_node.commit(group, 1), slow_node.commit(group, 2)
    first.on_done(lambda _: 1 / 0)
    slow_node.logs[0].commit()
    assert error_of(second.result()) == ErrorCode.NONE
