"""Load that goes on while a broker dies and comes back: an idempotent producer and a member of a group, each a thread.

Both are librdkafka's, which reconnects by itself. Each keeps account of what the broker acknowledged.
"""

import threading
import time
from collections import defaultdict
from typing import Any, Final

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

_EAGER: Final = {
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 200,
    "topic.metadata.refresh.interval.ms": 2000,
    "log_level": 0,
}
_IN_FLIGHT: Final = 500


class Writer:
    """Sends the numbers from 0 on, to all partitions in turn."""

    def __init__(self, address: str, topic: str, partitions: int) -> None:
        settings = {"bootstrap.servers": address, "enable.idempotence": True, "linger.ms": 2, **_EAGER}
        self.acked: dict[tuple[int, int], bytes] = {}  # partition and offset -> value
        self.failed: list[str] = []
        self._producer = Producer({**settings, "retry.backoff.ms": 20, "retry.backoff.max.ms": 200})
        self._topic, self._partitions = topic, partitions
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._stopping.is_set():
            if len(self._producer) < _IN_FLIGHT:
                value = b"%d" % number
                self._producer.produce(
                    self._topic, value, partition=number % self._partitions, on_delivery=self._delivered
                )
                number += 1
            self._producer.poll(0 if number % 20 else 0.005)

    def _delivered(self, error: Any, message: Message) -> None:
        if error is not None:
            self.failed.append(str(error))
        else:
            self.acked[int(message.partition() or 0), int(message.offset() or 0)] = bytes(message.value() or b"")

    def finish(self) -> None:
        """Stop, and wait until everything sent is acknowledged."""
        self._stopping.set()
        self._thread.join()
        assert self._producer.flush(60) == 0, "the producer could not send what it held"


class Reader:
    """A member of a group that commits what it has read, after every few records."""

    def __init__(self, address: str, topic: str, group: str) -> None:
        settings = {"bootstrap.servers": address, "group.id": group, "auto.offset.reset": "earliest", **_EAGER}
        self._consumer = Consumer({**settings, "enable.auto.commit": False, "session.timeout.ms": 6000})
        self._consumer.subscribe([topic])
        self._topic = topic
        self.seen: dict[int, set[int]] = defaultdict(set)
        self.committed: dict[int, int] = {}  # what the broker acknowledged
        self.tried: dict[int, int] = {}  # what it may have stored
        self.first: dict[int, int] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stopping.is_set():
            for message in self._consumer.consume(200, 0.1):
                if message.error() is None:
                    partition, offset = int(message.partition() or 0), int(message.offset() or 0)
                    self.first.setdefault(partition, offset)
                    self.seen[partition].add(offset)
                    self.tried[partition] = offset + 1
            self._commit()
        self._consumer.close()

    def _commit(self) -> None:
        wanted = dict(self.tried)
        if wanted == self.committed:
            return
        try:
            offsets = [TopicPartition(self._topic, partition, offset) for partition, offset in wanted.items()]
            self._consumer.commit(offsets=offsets, asynchronous=False)
            self.committed = wanted
        except KafkaException:  # the broker is away, or the group rebalances
            time.sleep(0.02)

    def finish(self) -> None:
        self._stopping.set()
        self._thread.join()
