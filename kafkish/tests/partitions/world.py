"""A node's partitions on real files, with time and worker threads in the test's hand."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from kafkish.config.load import with_defaults
from kafkish.config.node import NodeConfigs
from kafkish.config.settings import make_settings
from kafkish.deferred import Deferred
from kafkish.metadata.loader import MetadataLoader
from kafkish.partitions.flusher import Flusher
from kafkish.partitions.partition import Partition
from kafkish.partitions.table import PartitionTable
from kafkish.publisher import Publisher
from kafkish_protocol.records import Compression, Record, build_batch
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_settings import ConfigRecord, FeatureLevelRecord
from kafkish_protocol.stored.metadata_topics import PartitionRecord, RemoveTopicRecord, TopicRecord
from kafkish_protocol.types import Uuid
from kafkish_storage import DiskFiles, LogManager, StorageConfig

T = TypeVar("T")

NODE_ID = 1
NOW_MS = 1_700_000_000_000


class ManualTimer:
    """A timer that the test lets go off."""

    def __init__(self, due_ms: float, action: Callable[[], object]) -> None:
        self.due_ms = due_ms
        self.action = action
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class ManualTimers:
    """Time passes when the test says so."""

    def __init__(self) -> None:
        self.now_ms = 0.0
        self.timers: list[ManualTimer] = []

    def call_later(self, delay_ms: float, action: Callable[[], object], /) -> ManualTimer:
        timer = ManualTimer(self.now_ms + delay_ms, action)
        self.timers.append(timer)
        return timer

    def call_soon(self, action: Callable[[], object], /) -> None:
        action()

    def pass_ms(self, elapsed_ms: float) -> None:
        """Let time pass, and what is due happen in its order."""
        end_ms = self.now_ms + elapsed_ms
        while due := [each for each in self.timers if not each.is_cancelled and each.due_ms <= end_ms]:
            timer = min(due, key=lambda each: each.due_ms)
            self.timers.remove(timer)
            self.now_ms = timer.due_ms
            timer.action()
        self.now_ms = end_ms
        self.timers = [timer for timer in self.timers if not timer.is_cancelled]


class ManualWorkers:
    """Work waits until the test lets the workers run; `is_eager` ones do it at once."""

    def __init__(self, *, is_eager: bool = True) -> None:
        self.is_eager = is_eager
        self._waiting: list[tuple[Callable[[], Any], Deferred[Any]]] = []

    def run(self, work: Callable[[], T], /) -> Deferred[T]:
        deferred: Deferred[T] = Deferred()
        self._waiting.append((work, deferred))
        if self.is_eager:
            self.finish()
        return deferred

    def finish(self) -> None:
        """Do all that waits."""
        while self.finish_one():
            continue

    def finish_one(self) -> bool:
        """Do what has waited longest; whether there was any."""
        if not self._waiting:
            return False
        work, deferred = self._waiting.pop(0)
        try:
            result = work()
        except Exception as error:
            deferred.fail(error)
        else:
            deferred.resolve(result)
        return True


class World:
    """One node that leads all partitions of its topics."""

    def __init__(self, directory: Path, **static: str) -> None:
        properties = with_defaults({"log.dirs": str(directory)} | static)
        self.directory = directory
        self.timers = ManualTimers()
        self.workers = ManualWorkers()
        self.publisher = Publisher(make_settings(NodeConfigs(properties)))
        self.now_ms = NOW_MS
        self.open()
        self.commit(FeatureLevelRecord(name="metadata.version", feature_level=29))

    def open(self) -> None:
        """Open the logs; what the metadata said stays known."""
        self._loader = MetadataLoader()
        self._ids = (Uuid(number.to_bytes(16, "big")) for number in count(0x4000))
        config = StorageConfig(node_id=NODE_ID)
        self.logs = LogManager.open(DiskFiles(), [str(self.directory)], config, now_ms=NOW_MS, dice=Random(7))
        self.flusher = Flusher(self.workers, lambda: self.now_ms)
        self.table = PartitionTable(
            self.logs, NODE_ID, workers=self.workers, flush=self.flusher.flush, wall_ms=lambda: self.now_ms
        )
        self.publisher.subscribe(self.table.apply)

    def commit(self, *records: MetadataRecord) -> None:
        """The quorum commits some records."""
        offset = self._loader.image.provenance.offset + 1
        for update in self._loader.load_batch(records, base_offset=offset, epoch=1, timestamp_ms=self.now_ms):
            self.publisher.committed(update)

    def create_topic(self, name: str, partitions: int = 1, **configs: str) -> Uuid:
        """A topic that this node leads; underscores in a config's name stand for dots."""
        topic_id = next(self._ids)
        self.commit(
            TopicRecord(name=name, topic_id=topic_id),
            *(
                ConfigRecord(resource_type=2, resource_name=name, name=key.replace("_", "."), value=value)
                for key, value in configs.items()
            ),
            *(
                PartitionRecord(
                    partition_id=index,
                    topic_id=topic_id,
                    replicas=[NODE_ID],
                    isr=[NODE_ID],
                    leader=NODE_ID,
                    leader_epoch=0,
                    partition_epoch=0,
                )
                for index in range(partitions)
            ),
        )
        return topic_id

    def delete_topic(self, topic_id: Uuid) -> None:
        self.commit(RemoveTopicRecord(topic_id=topic_id))

    def topic_name(self, topic_id: Uuid) -> str | None:
        return self.publisher.image.topic_name(topic_id)

    def partition(self, topic: str, index: int = 0) -> Partition:
        found = self.table.by_name(topic, index)
        assert found is not None
        return found


def batch_of(
    *values: bytes, compression: Compression = Compression.NONE, timestamp: int = NOW_MS, **named: Any
) -> memoryview:
    """A batch as a producer sends it."""
    records = [Record(offset=index, timestamp=timestamp, key=b"key", value=value) for index, value in enumerate(values)]
    return memoryview(build_batch(records, compression=compression, **named))
