"""Ids for producers, and what logs remember of them."""

from pathlib import Path

import pytest

from kafkish.tests.handlers.node import NodeUnderTest
from kafkish.tests.partitions.world import NOW_MS, World, batch_of
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from kafkish_protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from kafkish_protocol.messages.init_producer_id import InitProducerIdRequest
from kafkish_protocol.records import Batch

ALL = -1


# -- InitProducerId


@pytest.mark.parametrize("version", range(6))
def test_every_idempotent_producer_gets_an_id_of_its_own(version: int) -> None:
    node = NodeUnderTest()
    answers = [node.ask(InitProducerIdRequest(transactional_id=None), version) for _ in range(3)]
    assert [(answer.error_code, answer.producer_id, answer.producer_epoch) for answer in answers] == [
        (0, 1000, 0),
        (0, 1001, 0),
        (0, 1002, 0),
    ]


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (InitProducerIdRequest(transactional_id=None, producer_id=5), ErrorCode.INVALID_REQUEST),
        (InitProducerIdRequest(transactional_id=None, producer_epoch=5), ErrorCode.INVALID_REQUEST),
        (InitProducerIdRequest(transactional_id="", transaction_timeout_ms=1), ErrorCode.INVALID_REQUEST),
        (InitProducerIdRequest(transactional_id="t"), ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        (
            InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=900_001),
            ErrorCode.INVALID_TRANSACTION_TIMEOUT,
        ),
        (InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=900_000), ErrorCode.NOT_COORDINATOR),
    ],
)
def test_a_producer_that_cannot_have_an_id_gets_none(request_: InitProducerIdRequest, error: ErrorCode) -> None:
    answer = NodeUnderTest().ask(request_)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (error, -1, -1)


def test_a_producer_that_had_an_id_gets_another() -> None:
    answer = NodeUnderTest().ask(InitProducerIdRequest(transactional_id=None, producer_id=7, producer_epoch=3))
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (0, 1000, 0)


# -- what logs tell


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def node_of(world: World) -> NodeUnderTest:
    """A node with the partitions and metadata of a world of real files."""
    node = NodeUnderTest()
    node.services.partitions = world.table
    node.services.metadata = world.publisher
    return node


def test_producers_are_described_as_the_log_remembers_them(world: World) -> None:
    world.create_topic("t")
    batch = batch_of(b"a", b"b", producer_id=9, producer_epoch=2, base_sequence=0)
    world.partition("t").produce(Batch(batch), ALL, NOW_MS)
    response = node_of(world).ask(DescribeProducersRequest(topics=[TopicRequest(name="t", partition_indexes=[0])]))
    (producer,) = response.topics[0].partitions[0].active_producers
    assert (producer.producer_id, producer.producer_epoch, producer.last_sequence) == (9, 2, 1)
    assert (producer.last_timestamp, producer.current_txn_start_offset) == (NOW_MS, -1)


def test_partitions_without_producers_to_describe_say_why(world: World) -> None:
    world.create_topic("t")
    asked = [TopicRequest(name="t", partition_indexes=[0, 7])]
    asked += [TopicRequest(name=name, partition_indexes=[0]) for name in ("nowhere", "bad name")]
    response = node_of(world).ask(DescribeProducersRequest(topics=asked))
    told = [partition.error_code for topic in response.topics for partition in topic.partitions]
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert told == [ErrorCode.NONE, unknown, unknown, ErrorCode.INVALID_TOPIC_EXCEPTION]


@pytest.mark.parametrize("version", range(1, 6))
def test_a_directory_tells_the_size_of_its_replicas(world: World, version: int) -> None:
    world.create_topic("t", partitions=2)
    world.create_topic("u")
    batch = batch_of(b"a")
    size_bytes = len(batch)
    world.partition("t", 1).produce(Batch(batch), ALL, NOW_MS)
    node = node_of(world)
    (everything,) = node.ask(DescribeLogDirsRequest(topics=None), version).results
    assert everything.log_dir == str(world.directory)
    assert sorted(
        (topic.name, partition.partition_index, partition.partition_size)
        for topic in everything.topics
        for partition in topic.partitions
    ) == [("t", 0, 0), ("t", 1, size_bytes), ("u", 0, 0)]
    assert (everything.usable_bytes > 0) is (version >= 4)
    asked = [DescribableLogDirTopic(topic="t", partitions=[1, 9]), DescribableLogDirTopic(topic="x", partitions=[0])]
    (some,) = node.ask(DescribeLogDirsRequest(topics=asked), version).results
    assert [(topic.name, [each.partition_index for each in topic.partitions]) for topic in some.topics] == [("t", [1])]


def test_a_directory_that_failed_has_an_error_and_nothing_else(world: World) -> None:
    world.create_topic("t")
    world.logs.directories[0].health.failed(OSError(5, "disk on fire"), "write")
    (result,) = node_of(world).ask(DescribeLogDirsRequest(topics=None)).results
    assert (result.error_code, result.topics) == (ErrorCode.KAFKA_STORAGE_ERROR, [])
