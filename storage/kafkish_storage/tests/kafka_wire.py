"""Questions about records that Apache Kafka answers over the wire and a log answers from its files."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple, Self

from kafkish_protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kafkish_protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafkish_protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkish_protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafkish_protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkish_protocol.records import Batch
from kafkish_protocol.tests.raw_client import RawClient
from kafkish_storage import Log
from kafkish_storage.errors import OffsetOutOfRangeError
from kafkish_storage.tests.making import whole_batches

LATEST, EARLIEST, LARGEST_TIMESTAMP = -1, -2, -3
OUT_OF_RANGE = 1
_NOT_FOUND = (-1, -1, -1)


class Question(NamedTuple):
    """What is at an offset, or where a timestamp is."""

    topic: str
    kind: str  # "fetch", "fetch committed" or "timestamp"
    argument: int
    max_bytes: int = 0


def random_questions(topic: str, batches: Sequence[Batch], count: int, dice: Random) -> list[Question]:
    """Offsets and timestamps in and around those of a topic, and the special ones."""
    end_offset = batches[-1].next_offset
    times = [batch.max_timestamp for batch in batches]
    found = [Question(topic, "timestamp", special) for special in (LATEST, EARLIEST, LARGEST_TIMESTAMP)]
    for number in range(count - len(found)):
        kind = ("timestamp", "fetch", "fetch committed")[number % 3]
        if kind == "timestamp":
            found.append(Question(topic, kind, dice.randint(min(times) - 2000, max(times) + 200)))
        else:
            max_bytes = dice.choice([1, 200, 1000, 5000, 100_000])
            found.append(Question(topic, kind, dice.randint(-1, end_offset + 1), max_bytes))
    return found


class KafkaWire(RawClient):
    """A broker, asked about partition 0 of its topics."""

    def __enter__(self) -> Self:
        return self

    def create_topic(self, name: str, configs: Mapping[str, str]) -> None:
        settings = [CreatableTopicConfig(name=key, value=value) for key, value in configs.items()]
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1, configs=settings)
        result = self.send(CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 7).topics[0]
        assert result.error_code == 0, result
        self.wait_for_topic(name)

    def wait_for_topic(self, name: str) -> None:
        """A broker answers before it knows its own topics."""
        while True:
            found = self.send(MetadataRequest(topics=[MetadataRequestTopic(name=name)]), 12).topics[0]
            if found.error_code == 0 and found.partitions[0].error_code == 0:
                return

    def ask(self, question: Question) -> object:
        if question.kind == "timestamp":
            answer = self.list_offset(question.topic, question.argument)
            return answer[:2] if question.argument == LATEST else answer  # with the epoch of today's leader
        is_committed = question.kind == "fetch committed"
        got = self.fetch(question.topic, question.argument, question.max_bytes, is_committed=is_committed)
        if got.error_code == OUT_OF_RANGE:
            return "out of range"
        assert got.error_code == 0
        aborted = [(entry.producer_id, entry.first_offset) for entry in got.aborted_transactions or []]
        return bytes(got.records or b""), aborted

    def fetch(self, topic: str, offset: int, max_bytes: int, *, is_committed: bool = False) -> Any:
        partition = FetchPartition(fetch_offset=offset, partition_max_bytes=max_bytes)
        request = FetchRequest(
            max_bytes=10_000_000, isolation_level=int(is_committed),
            topics=[FetchTopic(topic=topic, partitions=[partition])],
        )  # fmt: skip
        return self.send(request, 12).responses[0].partitions[0]

    def list_offset(self, topic: str, timestamp: int) -> tuple[int, int, int]:
        topics = [ListOffsetsTopic(name=topic, partitions=[ListOffsetsPartition(timestamp=timestamp)])]
        got = self.send(ListOffsetsRequest(replica_id=-1, topics=topics), 8).topics[0].partitions[0]
        assert got.error_code == 0
        return got.timestamp, got.offset, got.leader_epoch

    def read_all(self, topic: str) -> list[bytes]:
        """All batches of a topic."""
        offset = 0
        found: list[bytes] = []
        while True:
            records = self.fetch(topic, offset, 1_000_000).records
            if not records:
                return found
            for batch in whole_batches(bytes(records)):
                found.append(bytes(batch.view))
                offset = batch.next_offset


class WireLog:
    """Sends to a broker what would be appended to a log."""

    def __init__(self, wire: KafkaWire, topic: str) -> None:
        self._wire = wire
        self._topic = topic

    def append_as_leader(self, batches: Sequence[Batch], leader_epoch: int, now_ms: int) -> object:  # noqa: ARG002  # a broker has its own
        for batch in batches:
            partition = PartitionProduceData(records=batch.view)
            topics = [TopicProduceData(name=self._topic, partition_data=[partition])]
            got = self._wire.send(ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=topics), 12)
            assert got.responses[0].partition_responses[0].error_code == 0
        return None


def ask_log(log: Log, question: Question) -> object:
    """What a broker that leads the log would answer."""
    if question.kind == "timestamp":
        return _ask_timestamp(log, question.argument)
    is_committed = question.kind == "fetch committed"
    upper_offset = log.last_stable_offset if is_committed else log.high_watermark
    try:
        found = log.read(question.argument, question.max_bytes, upper_offset=upper_offset, with_aborted=is_committed)
    except OffsetOutOfRangeError:
        return "out of range"
    aborted = [(entry.producer_id, entry.first_offset) for entry in found.aborted]
    return found.records.read() if found.records else b"", aborted


def _ask_timestamp(log: Log, timestamp: int) -> tuple[int, ...]:
    if timestamp == LATEST:
        return -1, log.high_watermark
    if timestamp == EARLIEST:
        return -1, log.start_offset, log.epochs.epoch_of(log.start_offset) or 0
    found = log.largest_timestamp() if timestamp == LARGEST_TIMESTAMP else log.offset_of_timestamp(timestamp)
    return tuple(found) if found else _NOT_FOUND
