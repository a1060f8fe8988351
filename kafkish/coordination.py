"""Brings coordinators together with the partitions on this node that they live on."""

from collections.abc import Callable
from contextlib import suppress

from kafkish.config.settings import Settings
from kafkish.coordinators.groups.coordinator import TOPIC, GroupCoordinator
from kafkish.coordinators.shard_log import LogRefusedError
from kafkish.metadata.changes import Update, local_replicas
from kafkish.partitions.errors import PartitionError, storage_errors
from kafkish.partitions.partition import Partition
from kafkish.partitions.table import PartitionTable
from kafkish.partitions.validation import as_packed
from kafkish.partitions.watching import Watchable
from kafkish_protocol.records import Batch, InvalidRecordError, read_batches
from kafkish_protocol.varint import Buffer
from kafkish_storage import Origin

_ACKS_OF_ALL = -1


class _Listener:
    """A partition's watcher that calls a function."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call

    def notified(self, _: Watchable, /) -> None:
        self._call()


class PartitionLog:
    """A partition as a coordinator's shard sees it: `coordinators.shard_log.ShardLog`."""

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        self._listeners: dict[Callable[[], object], _Listener] = {}

    @property
    def start_offset(self) -> int:
        return self._partition.log.start_offset

    @property
    def end_offset(self) -> int:
        return self._partition.log.end_offset

    @property
    def high_watermark(self) -> int:
        return self._partition.log.high_watermark

    @property
    def max_batch_bytes(self) -> int:
        return self._partition.rules.max_message_bytes

    def append(self, batch: Batch, wall_ms: int, /) -> None:
        try:
            self._partition.require_leader()
            self._partition.require_replicas(_ACKS_OF_ALL)
            self._partition.append([as_packed(batch, self._partition.rules)], wall_ms, Origin.COORDINATOR)
        except PartitionError as error:
            raise LogRefusedError(error.code) from error

    def read(self, offset: int, max_bytes: int, /) -> Buffer:
        with storage_errors():
            found = self._partition.log.read(offset, max_bytes)
        return b"" if found.records is None else _whole_batches(memoryview(found.records.read()))

    def listen(self, listener: Callable[[], object], /) -> None:
        self._listeners[listener] = _Listener(listener)
        self._partition.watch(self._listeners[listener])

    def unlisten(self, listener: Callable[[], object], /) -> None:
        registered = self._listeners.pop(listener, None)
        if registered is not None:
            self._partition.unwatch(registered)


def _whole_batches(data: memoryview) -> memoryview:
    """Without the last one, if it is cut off."""
    position = 0
    with suppress(InvalidRecordError):
        for batch in read_batches(data):
            position += batch.size_bytes
    return data[:position]


class Coordination:
    """Tells the coordinator of groups what it leads, by each update of the metadata."""

    def __init__(self, groups: GroupCoordinator, partitions: PartitionTable, node_id: int) -> None:
        self._groups = groups
        self._partitions = partitions
        self._node_id = node_id

    def apply(self, update: Update, _: Settings) -> None:
        """After the partitions have carried the update out."""
        replicas = local_replicas(update, self._node_id)
        topic = update.after.topic(TOPIC)
        if topic is not None:
            for (topic_id, index), state in replicas.leaders.items():
                partition = self._partitions.by_id(topic_id, index)
                if topic_id == topic.id and partition is not None:
                    self._groups.elect(index, state.leader_epoch, PartitionLog(partition))
            for (topic_id, index), state in replicas.followers.items():
                if topic_id == topic.id:
                    self._groups.resign(index, state.leader_epoch)
        before = update.before.topic(TOPIC)
        for topic_id, index in replicas.removed:
            if before is not None and topic_id == before.id:
                self._groups.resign(index)
        deleted = [update.before.topics.by_id[topic_id] for topic_id in update.changes.deleted_topics]
        if deleted:
            self._groups.on_topics_deleted([(each.name, each.id) for each in deleted])
