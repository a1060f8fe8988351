"""Topics of a broker as tests write and read them, with librdkafka."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # its own documentation imports it so

DAY_MS = 1_714_521_600_000
"""2024-05-01T00:00:00Z."""
TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Record:
    """A record to write. Without a partition, its key chooses one."""

    value: bytes | None
    key: bytes | None = None
    partition: int | None = None
    timestamp_ms: int = DAY_MS
    headers: list[tuple[str, str | bytes | None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Found:
    """A record that was read."""

    partition: int
    offset: int
    key: bytes
    value: bytes
    headers: dict[str, bytes]


class Topics:
    """The topics of one broker."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._admin = AdminClient({"bootstrap.servers": address})

    def make(self, name: str, partitions: int = 2) -> str:
        """A fresh topic whose name starts so."""
        topic = f"{name}-{uuid4().hex[:8]}"
        self._create(topic, partitions)
        return topic

    def delete(self, topic: str) -> None:
        self._admin.delete_topics([topic])[topic].result(TIMEOUT_S)

    def remake(self, topic: str, partitions: int = 2) -> None:
        """Delete a topic and make another of the same name."""
        self.delete(topic)
        self._create(topic, partitions)

    def _create(self, topic: str, partitions: int) -> None:
        """Without retention: it would delete records of 2024 in the middle of a long run."""
        made = NewTopic(topic, partitions, config={"retention.ms": "-1"})
        self._admin.create_topics([made])[topic].result(TIMEOUT_S)

    def write(self, topic: str, records: Iterable[Record]) -> None:
        """Write and wait until all are acknowledged."""
        failures: list[object] = []

        def acknowledged(error: object, _: object) -> None:
            if error:
                failures.append(error)

        settings = {"linger.ms": 20, "queue.buffering.max.messages": 1_000_000}
        producer = Producer({"bootstrap.servers": self.address, **settings})
        for count, record in enumerate(records):
            producer.produce(
                topic,
                record.value,
                record.key,
                -1 if record.partition is None else record.partition,
                acknowledged,
                timestamp=record.timestamp_ms,
                headers=record.headers,
            )
            if count % 10_000 == 0:
                producer.poll(0)
        assert producer.flush(TIMEOUT_S) == 0
        assert failures == []

    def read(self, topic: str) -> list[Found]:
        """All records, partition by partition, in the order of offsets."""
        consumer = Consumer({"bootstrap.servers": self.address, "group.id": "tests", "enable.partition.eof": True})
        found: list[Found] = []
        for partition in consumer.list_topics(topic, TIMEOUT_S).topics[topic].partitions:
            consumer.assign([TopicPartition(topic, partition, 0)])
            while (message := consumer.poll(TIMEOUT_S)) is not None and message.error() is None:
                found.append(_found(message))
            assert message is not None, f"{topic}-{partition}: no answer"
        consumer.close()
        return found

    def values(self, topic: str) -> list[bytes]:
        """The values of all records."""
        return [record.value for record in self.read(topic)]


def _found(message: Any) -> Found:
    """librdkafka's message, which says of everything that it may be absent."""
    headers = dict(message.headers() or ())
    return Found(message.partition(), message.offset(), message.key() or b"", message.value() or b"", headers)
