"""Produce: what is appended, what is refused and how, when the answer comes."""

from pathlib import Path
from typing import Any

import pytest

from kafkish.handlers.registry import Disconnect
from kafkish.tests.handlers.data_node import DataNode
from kafkish.tests.partitions.world import NOW_MS, batch_of
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkish_protocol.records import Record, build_batch
from kafkish_protocol.types import Uuid

LAST_BY_NAME = 12
BY_ID = 13


@pytest.fixture
def node(tmp_path: Path) -> DataNode:
    return DataNode(tmp_path)


def to(topic: str, records: memoryview | None, *, index: int = 0, acks: int = -1, **named: Any) -> ProduceRequest:
    data = [PartitionProduceData(index=index, records=records)]
    return ProduceRequest(
        acks=acks, timeout_ms=1000, topic_data=[TopicProduceData(name=topic, partition_data=data)], **named
    )


def only_row(response: Any) -> Any:
    ((row,),) = [topic.partition_responses for topic in response.responses]
    return row


@pytest.mark.parametrize("version", range(3, 13))
def test_every_version_appends_and_tells_the_offset(node: DataNode, version: int) -> None:
    node.create_topic("orders")
    for expected in (0, 2):
        row = only_row(node.ask(to("orders", batch_of(b"a", b"b")), version))
        assert (row.error_code, row.base_offset) == (0, expected)


def test_since_version_13_topics_come_by_id(node: DataNode) -> None:
    topic_id = node.create_topic("orders")
    request = to("", batch_of(b"a"))
    request.topic_data[0].topic_id = topic_id
    assert only_row(node.ask(request, BY_ID)).base_offset == 0
    request.topic_data[0].topic_id = Uuid(b"\1" * 16)
    assert only_row(node.ask(request, BY_ID)).error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_a_partition_that_refuses_does_not_concern_the_others(node: DataNode) -> None:
    node.create_topic("orders", partitions=2)
    request = to("orders", batch_of(b"a"), index=0)
    request.topic_data[0].partition_data += [
        PartitionProduceData(index=7, records=batch_of(b"b")),
        PartitionProduceData(index=1, records=batch_of(b"c")),
    ]
    (topic,) = node.ask(request, LAST_BY_NAME).responses
    codes = [row.error_code for row in topic.partition_responses]
    assert codes == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0]
    assert topic.partition_responses[1].base_offset == -1


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (None, ErrorCode.INVALID_RECORD),
        (memoryview(b""), ErrorCode.INVALID_RECORD),
        (batch_of(b"x" * 2_000_000), ErrorCode.MESSAGE_TOO_LARGE),
        (memoryview(bytes(batch_of(b"a")) * 2), ErrorCode.INVALID_RECORD),
        (memoryview(bytes(batch_of(b"a"))[:-1] + b"?"), ErrorCode.CORRUPT_MESSAGE),
        (batch_of(b"a", timestamp=NOW_MS + 10**10), ErrorCode.INVALID_TIMESTAMP),
        (batch_of(b"a", control=True), ErrorCode.INVALID_RECORD),
    ],
)
def test_what_cannot_be_appended_is_refused_and_nothing_is_written(
    node: DataNode, records: memoryview | None, code: ErrorCode
) -> None:
    node.create_topic("orders")
    assert only_row(node.ask(to("orders", records), LAST_BY_NAME)).error_code == code
    assert node.partition("orders").log.end_offset == 0


def test_records_without_a_key_are_named_one_by_one_on_a_compacted_topic(node: DataNode) -> None:
    node.create_topic("table", cleanup_policy="compact")
    keyless = [Record(0, NOW_MS, b"k", b"v"), Record(1, NOW_MS, None, b"v")]
    row = only_row(node.ask(to("table", memoryview(build_batch(keyless))), LAST_BY_NAME))
    assert row.error_code == ErrorCode.INVALID_RECORD
    assert [each.batch_index for each in row.record_errors] == [1]
    assert row.log_start_offset == 0


def test_acks_other_than_none_one_or_all_are_refused(node: DataNode) -> None:
    node.create_topic("orders")
    row = only_row(node.ask(to("orders", batch_of(b"a"), acks=2), LAST_BY_NAME))
    assert row.error_code == ErrorCode.INVALID_REQUIRED_ACKS


def test_without_acks_there_is_no_answer_and_after_an_error_no_connection(node: DataNode) -> None:
    node.create_topic("orders")
    assert node.ask(to("orders", batch_of(b"a"), acks=0), LAST_BY_NAME) is None
    assert node.partition("orders").log.end_offset == 1
    with pytest.raises(Disconnect, match="UNKNOWN_TOPIC_OR_PARTITION"):
        node.ask(to("elsewhere", batch_of(b"a"), acks=0), LAST_BY_NAME)


def test_internal_topics_are_for_kafkas_own_tools(node: DataNode) -> None:
    node.create_topic("__consumer_offsets")
    request = to("__consumer_offsets", batch_of(b"a"))
    assert only_row(node.ask(request, LAST_BY_NAME)).error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    allowed = node.start(request, LAST_BY_NAME, client_id="__admin_client")
    assert only_row(allowed).error_code == 0


def test_a_transactional_batch_needs_the_transactional_id(node: DataNode) -> None:
    node.create_topic("orders")
    batch = batch_of(b"a", producer_id=5, producer_epoch=0, base_sequence=0, transactional=True)
    row = only_row(node.ask(to("orders", batch), LAST_BY_NAME))
    assert row.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_a_batch_sent_twice_is_appended_once_and_gets_the_same_offset(node: DataNode) -> None:
    node.create_topic("orders")
    batch = batch_of(b"a", producer_id=5, producer_epoch=0, base_sequence=0)
    rows = [only_row(node.ask(to("orders", batch), LAST_BY_NAME)) for _ in range(2)]
    assert [(row.error_code, row.base_offset) for row in rows] == [(0, 0), (0, 0)]
    assert node.partition("orders").log.end_offset == 1
    gap = batch_of(b"b", producer_id=5, producer_epoch=0, base_sequence=7)
    assert only_row(node.ask(to("orders", gap), LAST_BY_NAME)).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_with_flush_before_ack_the_answer_waits_for_the_disk(node: DataNode) -> None:
    node.create_topic("orders", flush_messages="1")
    node.workers.is_eager = False
    answers = [node.start(to("orders", batch_of(b"a"), acks=acks), LAST_BY_NAME) for acks in (1, -1)]
    assert [answer.is_done for answer in answers] == [False, False]
    node.workers.finish()
    assert [only_row(answer.result()).base_offset for answer in answers] == [0, 1]


def test_patience_ends_after_the_requests_timeout(node: DataNode) -> None:
    node.create_topic("orders", flush_messages="1")
    node.workers.is_eager = False
    answer = node.start(to("orders", batch_of(b"a")), LAST_BY_NAME)
    node.timers.pass_ms(1000)
    row = only_row(answer.result())
    assert (row.error_code, row.base_offset) == (ErrorCode.REQUEST_TIMED_OUT, -1)
    node.workers.finish()  # the late sync finds nobody waiting


def test_with_log_append_time_the_answer_tells_the_time(node: DataNode) -> None:
    node.create_topic("orders", message_timestamp_type="LogAppendTime")
    row = only_row(node.ask(to("orders", batch_of(b"a", timestamp=1)), LAST_BY_NAME))
    assert row.log_append_time_ms == NOW_MS
