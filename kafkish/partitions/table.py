"""All replicas on this node: made, moved and deleted as the metadata says."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Final, TypeAlias, TypeVar

from kafkish.config.settings import Settings
from kafkish.deferred import Deferred, in_turns
from kafkish.metadata.changes import PartitionId, Update, local_replicas
from kafkish.metadata.image import MetadataImage, ResourceType
from kafkish.metadata.topics import Partition as PartitionState
from kafkish.partitions.partition import Partition, Role
from kafkish.partitions.topic_settings import TopicSettings, topic_settings
from kafkish.workers import Workers, run_job
from kafkish_protocol.types import Uuid
from kafkish_protocol.uuids import format_uuid
from kafkish_storage import Log, LogManager, NewLog, TopicPartition
from kafkish_storage.directory import LogDirectory
from kafkish_storage.errors import StorageError

log = logging.getLogger("kafkish.partitions")

T = TypeVar("T")
SettingsOf: TypeAlias = Callable[[str], TopicSettings]

_AT_ONCE: Final = 500
"""Partitions that are made, changed or deleted in one turn: some milliseconds of the loop."""


@dataclass(frozen=True, slots=True)
class Directory:
    """A data directory and what is in it."""

    path: str
    failure: str | None
    is_cordoned: bool
    total_bytes: int
    usable_bytes: int
    partitions: list[Partition]


class PartitionTable:
    """The replicas by name and by id. Changed by `apply` only."""

    def __init__(
        self,
        logs: LogManager,
        node_id: int,
        *,
        workers: Workers,
        flush: Callable[[Partition], object],
        wall_ms: Callable[[], int],
        on_made: Callable[[int], object] = lambda _: None,
    ) -> None:
        """`on_made` is told how many partitions have been made, each time."""
        self._logs = logs
        self._node_id = node_id
        self._workers = workers
        self._flush = flush
        self._wall_ms = wall_ms
        self._on_made = on_made
        self._by_id: dict[PartitionId, Partition] = {}
        self._by_name: dict[tuple[str, int], Partition] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._by_id.values())

    def by_name(self, topic: str, index: int, /) -> Partition | None:
        return self._by_name.get((topic, index))

    def by_id(self, topic_id: Uuid, index: int, /) -> Partition | None:
        return self._by_id.get((topic_id, index))

    def directories(self) -> Iterable[Directory]:
        """The data directories, those that failed too."""
        for directory in self._logs.directories:
            held = [self._by_name.get((tp.topic, tp.partition)) for tp in directory.logs]
            partitions = [partition for partition in held if partition is not None]
            is_cordoned = directory.path in self._logs.cordoned
            yield Directory(directory.path, directory.health.failure, is_cordoned, *_space(directory), partitions)
        opened = {directory.path for directory in self._logs.directories}
        for path, reason in self._logs.offline.items():
            if path not in opened:
                yield Directory(path, reason, False, -1, -1, [])

    # -- following the metadata

    def apply(self, update: Update, settings: Settings) -> Deferred[None]:
        """Carry out an update, in turns with others; done when all logs that it needs are there."""
        return in_turns(self._turns(update, settings))

    def _turns(self, update: Update, settings: Settings) -> Iterator[Deferred[None]]:
        replicas = local_replicas(update, self._node_id)
        settings_of = _settings_by_topic(update.after, settings)
        for removed in _portions(replicas.removed):
            for key in removed:
                self._remove(key)
            yield self._rest_after(removed)
        for reconfigured in _portions(list(self._reconfigured(update))):
            for partition in reconfigured:
                partition.configure(settings_of(partition.topic))
            yield self._rest_after(reconfigured)
        states = {**replicas.leaders, **replicas.followers}
        for keys in _portions(states):
            yield from self._make([key for key in keys if key not in self._by_id], update.after, settings_of)
            for key in keys:
                if key in self._by_id:
                    self._by_id[key].become(_role(states[key]))
            yield self._rest_after(keys)

    def _rest_after(self, portion: Sized) -> Deferred[None]:
        """Others have the loop before the next portion, if this may not have been the last."""
        return self._workers.run(lambda: None) if len(portion) == _AT_ONCE else Deferred.of(None)

    def _make(self, new: list[PartitionId], image: MetadataImage, settings_of: SettingsOf) -> Iterator[Deferred[None]]:
        if not new:
            return
        made = self._create(new, image)
        yield made
        if made.error is not None:
            log.error("not all partitions could be made: %s", made.error)
        for key in new:
            self._add(key, image, settings_of)
        self._on_made(len(new))

    def _create(self, keys: Iterable[PartitionId], image: MetadataImage) -> Deferred[None]:
        try:
            job = self._logs.create([self._new_log(key, image) for key in keys], self._wall_ms())
        except StorageError as error:
            return Deferred.failed(error)
        return run_job(self._workers, job)

    def _new_log(self, key: PartitionId, image: MetadataImage) -> NewLog:
        """A log that was left by an older topic of the same name makes room."""
        topic_id, index = key
        topic = image.topics.by_id[topic_id]
        partition, text = TopicPartition(topic.name, index), format_uuid(topic_id)
        existing = self._logs.get(partition)
        if existing is not None and existing.topic_id not in (None, text):
            self._logs.set_aside(partition, self._wall_ms())
        return NewLog(partition, text)

    def _add(self, key: PartitionId, image: MetadataImage, settings_of: SettingsOf) -> None:
        topic_id, index = key
        name = image.topics.by_id[topic_id].name
        found = self._logs.get(TopicPartition(name, index))
        if found is None:
            log.error("%s-%d has no log on this node: its directory is offline, or its files are damaged", name, index)
            return
        partition = Partition(name, topic_id, index, found, node_id=self._node_id, flush=self._flush)
        partition.configure(settings_of(name))
        self._by_id[key] = self._by_name[name, index] = partition

    def _reconfigured(self, update: Update) -> Iterator[Partition]:
        """The partitions whose settings may have changed; all, if those of a broker have."""
        changed = update.changes.configs
        if any(resource.type == ResourceType.BROKER for resource in changed):
            yield from self._by_id.values()
            return
        for topic in (resource.name for resource in changed if resource.type == ResourceType.TOPIC):
            found = update.after.topic(topic)
            for index in found.partitions if found else ():
                partition = self.by_name(topic, index)
                if partition is not None:
                    yield partition

    def _remove(self, key: PartitionId) -> None:
        partition = self._by_id.pop(key, None)
        if partition is None:
            return
        del self._by_name[partition.topic, partition.index]
        partition.delete()
        try:
            self._logs.delete(partition.log.partition, self._wall_ms())
        except StorageError as error:
            log.error("%s-%d cannot be deleted: %s", partition.topic, partition.index, error)

    def set_strays_aside(self, image: MetadataImage) -> None:
        """Take logs out of service that the metadata knows nothing of. Once, when the first image is there."""
        for found in self._logs.logs:
            topic, index = found.partition
            if not _belongs(found, image, self._node_id):
                log.warning("%s-%d is not in the metadata: its directory is kept under another name", topic, index)
                self._logs.set_aside(found.partition, self._wall_ms())


def _portions(items: Iterable[T]) -> Iterator[list[T]]:
    """All items in their order, as many as one turn can take at a time."""
    rest = iter(items)
    while portion := list(islice(rest, _AT_ONCE)):
        yield portion


def _settings_by_topic(image: MetadataImage, settings: Settings) -> SettingsOf:
    """What a topic's settings amount to, computed once for each."""

    @cache
    def settings_of(topic: str) -> TopicSettings:
        return topic_settings(image.config(ResourceType.TOPIC, topic), settings)

    return settings_of


def _space(directory: LogDirectory) -> tuple[int, int]:
    """All bytes of a directory's volume, and those that are free; -1 if that cannot be told."""
    if directory.health.failure is not None:
        return -1, -1
    return directory.files.total_bytes(directory.path), directory.files.free_bytes(directory.path)


def _belongs(found: Log, image: MetadataImage, node_id: int) -> bool:
    topic = image.topic(found.partition.topic)
    if topic is None or found.topic_id not in (None, format_uuid(topic.id)):
        return False
    state = topic.partitions.get(found.partition.partition)
    return state is not None and node_id in state.replicas


def _role(state: PartitionState) -> Role:
    return Role(state.leader, state.leader_epoch, state.isr, len(state.replicas))
