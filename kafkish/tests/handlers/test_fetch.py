"""Fetch, ListOffsets, OffsetForLeaderEpoch and DeleteRecords on real logs."""

from pathlib import Path
from typing import Any

import pytest

from kafkish.tests.handlers.data_node import DataNode
from kafkish.tests.partitions.world import NOW_MS, batch_of
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kafkish_protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafkish_protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkish_protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafkish_protocol.records import Batch, read_batches
from kafkish_protocol.stored.metadata_topics import PartitionChangeRecord
from kafkish_protocol.types import ZERO_UUID, Uuid

BY_NAME = 12
BY_ID = 18


@pytest.fixture
def node(tmp_path: Path) -> DataNode:
    return DataNode(tmp_path)


def fetch(
    *offsets: int, topic: str = "orders", topic_id: Uuid = ZERO_UUID, max_bytes: int = 1 << 20, **named: Any
) -> FetchRequest:
    """A fetch of partitions 0, 1, ... from these offsets on."""
    partitions = [
        FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1 << 20)
        for index, offset in enumerate(offsets)
    ]
    request = FetchRequest(
        max_bytes=max_bytes, topics=[FetchTopic(topic=topic, topic_id=topic_id, partitions=partitions)]
    )
    request.min_bytes, request.max_wait_ms = 1, 500
    for name, value in named.items():
        setattr(request, name, value)
    return request


def rows(response: Any) -> list[Any]:
    return [row for topic in response.responses for row in topic.partitions]


def values(row: Any) -> list[bytes | None]:
    data = row.records.read() if len(row.records) else b""
    return [record.value for batch in read_batches(data) for record in batch.records()]


def fill(node: DataNode, *sent: bytes, topic: str = "orders", index: int = 0, **named: Any) -> None:
    for value in sent:
        node.partition(topic, index).produce(Batch(batch_of(value, **named)), -1, NOW_MS)


@pytest.mark.parametrize("version", range(4, 13))
def test_every_version_by_name_reads_what_is_there(node: DataNode, version: int) -> None:
    node.create_topic("orders")
    fill(node, b"a", b"b")
    (row,) = rows(node.ask(fetch(0), version))
    assert values(row) == [b"a", b"b"]
    assert (row.high_watermark, row.last_stable_offset, row.log_start_offset) == (2, 2, 0)


@pytest.mark.parametrize("version", range(13, 19))
def test_every_version_by_id_reads_what_is_there(node: DataNode, version: int) -> None:
    topic_id = node.create_topic("orders")
    fill(node, b"a", b"b")
    (row,) = rows(node.ask(fetch(1, topic="", topic_id=topic_id), version))
    assert values(row) == [b"b"]
    (row,) = rows(node.ask(fetch(0, topic="", topic_id=Uuid(b"\1" * 16)), version))
    assert row.error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_a_fetch_at_the_end_waits_for_the_next_record(node: DataNode) -> None:
    node.create_topic("orders")
    fill(node, b"a")
    answer = node.start(fetch(1), BY_NAME)
    assert not answer.is_done
    fill(node, b"b")
    assert values(rows(answer.result())[0]) == [b"b"]


def test_a_fetch_that_waits_in_vain_ends_empty(node: DataNode) -> None:
    node.create_topic("orders")
    answer = node.start(fetch(0), BY_NAME)
    node.timers.pass_ms(500)
    assert values(rows(answer.result())[0]) == []


def test_an_offset_outside_of_the_log_is_told_at_once(node: DataNode) -> None:
    node.create_topic("orders")
    (row,) = rows(node.ask(fetch(5), BY_NAME))
    assert (row.error_code, row.high_watermark) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)


def test_max_bytes_bounds_the_answer_but_one_batch_always_comes(node: DataNode) -> None:
    node.create_topic("orders", partitions=2)
    fill(node, b"x" * 1000)
    fill(node, b"y" * 1000, index=1)
    first, second = rows(node.ask(fetch(0, 0, max_bytes=10), BY_NAME))
    assert (len(values(first)), len(values(second))) == (1, 0)


def test_an_incremental_session_tells_only_news(node: DataNode) -> None:
    node.create_topic("orders", partitions=2)
    fill(node, b"a")
    opened = node.ask(fetch(0, 0, session_epoch=0, max_wait_ms=0), BY_NAME)
    assert opened.session_id > 0
    assert len(rows(opened)) == 2
    moved = fetch(1, session_epoch=1, session_id=opened.session_id, max_wait_ms=0)
    assert rows(node.ask(moved, BY_NAME)) == []
    fill(node, b"b", index=1)
    again = FetchRequest(session_epoch=2, session_id=opened.session_id, min_bytes=1)
    (row,) = rows(node.ask(again, BY_NAME))
    assert (row.partition_index, values(row)) == (1, [b"b"])


def test_a_session_goes_by_the_name_that_a_topic_had(node: DataNode) -> None:
    topic_id = node.create_topic("orders")
    opened = node.ask(fetch(0, topic="", topic_id=topic_id, session_epoch=0, max_wait_ms=0), BY_ID)
    node.delete_topic(topic_id)
    (row,) = rows(node.ask(FetchRequest(session_epoch=1, session_id=opened.session_id), BY_ID))
    assert row.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    node.create_topic("orders")
    (row,) = rows(node.ask(FetchRequest(session_epoch=2, session_id=opened.session_id), BY_ID))
    assert row.error_code == ErrorCode.INCONSISTENT_TOPIC_ID


def test_a_session_that_nobody_knows_is_refused(node: DataNode) -> None:
    response = node.ask(FetchRequest(session_epoch=4, session_id=77), BY_NAME)
    assert response.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_waiting_fetch_is_told_when_its_topic_is_deleted(node: DataNode) -> None:
    topic_id = node.create_topic("orders")
    answer = node.start(fetch(0), BY_NAME)
    node.delete_topic(topic_id)
    told = rows(answer.result())[0].error_code
    assert told in (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert rows(node.ask(fetch(0), BY_NAME))[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_reader_of_another_epoch_is_told_where_its_log_parts(node: DataNode) -> None:
    topic_id = node.create_topic("orders")
    fill(node, b"a", b"b")
    node.commit(PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=1))
    fill(node, b"c")
    request = fetch(5)
    request.topics[0].partitions[0].last_fetched_epoch = 0
    (row,) = rows(node.ask(request, BY_NAME))
    assert (row.diverging_epoch.epoch, row.diverging_epoch.end_offset) == (0, 2)


def test_a_divergence_that_a_version_cannot_tell_is_refused(node: DataNode) -> None:
    """A session remembers the epoch that a later version named."""
    node.create_topic("orders")
    fill(node, b"a", b"b")
    opening = fetch(5, session_epoch=0)
    opening.topics[0].partitions[0].last_fetched_epoch = 0
    opened = node.ask(opening, BY_NAME)
    request = fetch(session_epoch=1, session_id=opened.session_id, topic="others")
    request.topics[0].partitions = [FetchPartition(partition=3)]
    refused = node.ask(request, 11)
    assert (refused.error_code, refused.session_id) == (ErrorCode.UNSUPPORTED_VERSION, opened.session_id)
    assert [row.error_code for row in rows(refused)] == [ErrorCode.UNSUPPORTED_VERSION]


def test_negative_sizes_are_refused(node: DataNode) -> None:
    node.create_topic("orders")
    request = fetch(0)
    request.topics[0].partitions[0].partition_max_bytes = -5
    assert rows(node.ask(request, BY_NAME))[0].error_code == ErrorCode.INVALID_FETCH_SIZE


# -- ListOffsets


def look_up(node: DataNode, timestamp: int, version: int = 11, *, twice: bool = False) -> Any:
    asked = [ListOffsetsPartition(partition_index=0, timestamp=timestamp)] * (2 if twice else 1)
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name="orders", partitions=asked)])
    return node.ask(request, version).topics[0].partitions[0]


def test_offsets_are_found_by_time_and_by_their_special_numbers(node: DataNode) -> None:
    node.create_topic("orders")
    for step in range(10):
        fill(node, b"v", timestamp=NOW_MS + step * 10)
    node.partition("orders").delete_records_before(3)
    found = {timestamp: look_up(node, timestamp) for timestamp in (-1, -2, -3, -4, -5, -6, NOW_MS + 55, NOW_MS + 999)}
    assert {key: row.offset for key, row in found.items()} == {
        -1: 10, -2: 3, -3: 9, -4: 3, -5: -1, -6: -1, NOW_MS + 55: 6, NOW_MS + 999: -1,
    }  # fmt: skip
    assert found[-3].timestamp == NOW_MS + 90
    assert found[NOW_MS + 55].timestamp == NOW_MS + 60


@pytest.mark.parametrize("version", range(1, 12))
def test_every_version_answers_and_knows_its_own_special_numbers(node: DataNode, version: int) -> None:
    node.create_topic("orders")
    fill(node, b"a")
    assert look_up(node, -1, version).offset == 1
    known = {-3: 7, -4: 8, -5: 9, -6: 11}
    for timestamp, since in known.items():
        code = look_up(node, timestamp, version).error_code
        assert code == (ErrorCode.NONE if version >= since else ErrorCode.UNSUPPORTED_VERSION)
    assert look_up(node, -7, version).error_code == ErrorCode.UNSUPPORTED_VERSION


def test_a_partition_named_twice_is_refused(node: DataNode) -> None:
    node.create_topic("orders")
    assert look_up(node, -1, twice=True).error_code == ErrorCode.INVALID_REQUEST


# -- OffsetForLeaderEpoch and DeleteRecords


def test_the_end_of_an_epoch_is_known_as_long_as_the_epoch_is(node: DataNode) -> None:
    topic_id = node.create_topic("orders")
    fill(node, b"a", b"b")
    node.commit(PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=1))
    fill(node, b"c")

    def end_of(epoch: int) -> tuple[int, int]:
        asked = [OffsetForLeaderPartition(partition=0, leader_epoch=epoch)]
        request = OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic(topic="orders", partitions=asked)])
        row = node.ask(request, 4).topics[0].partitions[0]
        return row.leader_epoch, row.end_offset

    assert [end_of(epoch) for epoch in (0, 1, 2)] == [(0, 2), (1, 3), (-1, -1)]


def delete(node: DataNode, offset: int, topic: str = "orders") -> Any:
    asked = [DeleteRecordsPartition(partition_index=0, offset=offset)]
    request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=topic, partitions=asked)])
    return node.ask(request, 2).topics[0].partitions[0]


def test_deleted_records_are_gone_at_once(node: DataNode) -> None:
    node.create_topic("orders")
    fill(node, b"a", b"b", b"c")
    assert delete(node, 2).low_watermark == 2
    assert rows(node.ask(fetch(1), BY_NAME))[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert values(rows(node.ask(fetch(2), BY_NAME))[0]) == [b"c"]
    assert delete(node, -1).low_watermark == 3
    assert delete(node, 4).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert delete(node, -2).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_compacted_topic_keeps_its_records(node: DataNode) -> None:
    node.create_topic("orders", cleanup_policy="compact")
    assert delete(node, 0).error_code == ErrorCode.POLICY_VIOLATION
