"""A replica on this node: its log, its place in the cluster, and who waits for it.

Offsets of a leader, from the oldest to the newest:

    log start <= last stable offset <= high watermark <= log end

Readers see records below the high watermark, which every in-sync replica has; readers of committed records see those
below the last stable offset, before which every transaction has ended. Records are appended at the log end. Where the
topic asks for durability before the answer (`flush.messages=1`), the leader itself counts only what is on disk.
"""

from collections import deque
from collections.abc import Callable, Collection
from typing import Final, NamedTuple

from kafkish.deferred import Deferred
from kafkish.partitions.errors import PartitionError, from_storage, storage_errors
from kafkish.partitions.topic_settings import TopicSettings
from kafkish.partitions.validation import ProduceRules, validate
from kafkish.partitions.watching import Watchable
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.records import Batch
from kafkish_protocol.types import Uuid
from kafkish_storage import Appended, Log, Origin, Read, TimestampOffset
from kafkish_storage.errors import StorageError

NO_EPOCH: Final = -1


class Role(NamedTuple):
    """What the metadata says of a partition, as far as this replica needs it."""

    leader_id: int
    leader_epoch: int
    isr: Collection[int]
    replica_count: int = 1


NOBODY: Final = Role(-1, NO_EPOCH, ())


class Partition(Watchable):
    """One replica. Not for threads: everything here runs in the event loop's."""

    __slots__ = (
        "_active", "_awaiting_high_watermark", "_flush", "_node_id", "flushes_before_ack", "index", "is_deleted",
        "is_leader", "lacks_replicas", "log", "min_isr", "name", "role", "rules", "topic", "topic_id",
    )  # fmt: skip

    def __init__(
        self,
        topic: str,
        topic_id: Uuid,
        index: int,
        log: Log,
        *,
        node_id: int,
        flush: "Callable[[Partition], object]" = lambda _: None,
    ) -> None:
        """`flush` is called when the topic's settings want what was appended on disk."""
        super().__init__()
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.name = f"{topic}-{index}"
        self.log = log
        self.rules = ProduceRules()
        self.min_isr = 1
        self.role = NOBODY
        self.is_leader = False
        self.lacks_replicas = False
        """Whether fewer replicas are in sync than an append that waits for all of them needs."""
        self.flushes_before_ack = False
        """Whether only what is on disk counts."""
        self.is_deleted = False
        self._node_id = node_id
        self._flush = flush
        self._active = log.segments.active
        self._awaiting_high_watermark: deque[tuple[int, Deferred[None]]] = deque()  # in order of their offsets

    def __repr__(self) -> str:
        return f"Partition({self.name}, epoch {self.role.leader_epoch}, ends at {self.log.end_offset})"

    # -- its place in the cluster

    def configure(self, settings: TopicSettings) -> None:
        """Go by these settings from now on."""
        self.log.config, self.rules, self.min_isr = settings
        self.flushes_before_ack = self.log.config.flush_messages <= 1
        self._count_replicas()

    def become(self, role: Role) -> None:
        """Take on what the metadata says. Who waited for an earlier leader is told to look for the new one."""
        was_leader, old_epoch = self.is_leader, self.role.leader_epoch
        self._take_on(role)
        if was_leader and (not self.is_leader or role.leader_epoch != old_epoch):
            self.disappoint(PartitionError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        if self.is_leader:
            if role.leader_epoch != old_epoch:
                self.log.epochs.assign(role.leader_epoch, self.log.end_offset)
            self.advance()
        self.notify()

    def delete(self) -> None:
        """The topic is gone: so are the hopes of who waits."""
        self.is_deleted = True
        self.disappoint(PartitionError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        self._take_on(NOBODY)
        self.notify()

    def _take_on(self, role: Role) -> None:
        self.role = role
        self.is_leader = role.leader_id == self._node_id
        self._count_replicas()

    def _count_replicas(self) -> None:
        """Where a partition has fewer replicas than `min.insync.replicas`, all of them are enough, as in Kafka."""
        self.lacks_replicas = len(self.role.isr) < min(self.min_isr, self.role.replica_count)

    def disappoint(self, error: PartitionError) -> None:
        """Tell all who wait for their records to be replicated that it is not known whether they will be."""
        waiting, self._awaiting_high_watermark = self._awaiting_high_watermark, deque()
        for _, deferred in waiting:
            deferred.fail(error)

    def require_leader(self, current_leader_epoch: int = NO_EPOCH) -> None:
        """Refuse if this node does not lead, or if the client knows another leader epoch (KIP-320)."""
        if current_leader_epoch not in (NO_EPOCH, self.role.leader_epoch):
            is_old = current_leader_epoch < self.role.leader_epoch
            raise PartitionError(ErrorCode.FENCED_LEADER_EPOCH if is_old else ErrorCode.UNKNOWN_LEADER_EPOCH)
        if not self.is_leader:
            raise PartitionError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    # -- appending

    def produce(self, batch: Batch, acks: int, now_ms: int) -> Appended:
        """Validate and append what a producer sent. `is_acknowledged` tells whether it is safe."""
        if not self.is_leader:
            raise PartitionError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if self.lacks_replicas:
            self.require_replicas(acks)
        return self.append([validate(batch, self.rules, now_ms, self.name)], now_ms)

    def require_replicas(self, acks: int) -> None:
        """Refuse an append that waits for all replicas while too few of them are in sync."""
        if self.lacks_replicas and acks == -1:
            raise PartitionError(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                f"The size of the current ISR {sorted(self.role.isr)} is insufficient to satisfy the min.isr "
                f"requirement of {self.min_isr} for partition {self.name}",
            )

    def append(self, batches: list[Batch], now_ms: int, origin: Origin = Origin.CLIENT) -> Appended:
        """Append batches that are known to be good."""
        log = self.log
        try:
            appended = log.append_as_leader(batches, self.role.leader_epoch, now_ms, origin=origin)
        except StorageError as error:
            raise from_storage(error) from error
        active = log.segments.active
        if active is not self._active or log.end_offset - log.recovery_point >= log.config.flush_messages:
            self._active = active  # what was rolled is made durable: only that can be compacted
            self._flush(self)
        self.advance()
        return appended

    def is_acknowledged(self, last_offset: int, acks: int) -> bool:
        """Whether a producer that wants these acks may be told that its records are safe; `replicated` says when."""
        return self.log.high_watermark > last_offset or not (acks == -1 or self.flushes_before_ack)

    def replicated(self, last_offset: int) -> Deferred[None]:
        """Done when the high watermark has passed an offset; fails if that cannot be known any more."""
        if self.log.high_watermark > last_offset:
            return Deferred.of(None)
        deferred: Deferred[None] = Deferred()
        self._awaiting_high_watermark.append((last_offset, deferred))
        return deferred

    @property
    def waiting_produces(self) -> int:
        """Appends of which nobody knows yet whether they stay."""
        return len(self._awaiting_high_watermark)

    @property
    def unflushed_bytes(self) -> int:
        """Of the segment that is written to: others are flushed when they are full."""
        active = self.log.segments.active
        return active.size_bytes - active.synced_bytes

    def needs_flush(self, now_ms: int) -> bool:
        """Whether the topic's settings want more on disk than is there."""
        return self.log.flush_is_due(now_ms)

    def advance(self) -> None:
        """Move the high watermark as far as the in-sync replicas have come, and wake up who waits for that."""
        log = self.log
        reached = log.recovery_point if self.flushes_before_ack else log.end_offset
        if not self.is_leader or reached <= log.high_watermark:
            return
        log.update_high_watermark(reached)
        waiting = self._awaiting_high_watermark
        while waiting and waiting[0][0] < reached:
            waiting.popleft()[1].resolve(None)
        self.notify()

    # -- reading

    def read(self, offset: int, max_bytes: int, *, committed: bool = False, at_least_one: bool = True) -> Read:
        """Batches from an offset on, as far as a consumer may see them."""
        upper_offset = self.log.last_stable_offset if committed else self.log.high_watermark
        try:
            return self.log.read(
                offset, max_bytes, upper_offset=upper_offset, at_least_one=at_least_one, with_aborted=committed
            )
        except StorageError as error:
            raise from_storage(error) from error

    # -- looking up

    def find_timestamp(self, timestamp: int) -> TimestampOffset | None:
        """The first record that is not older than a timestamp."""
        with storage_errors():
            return self.log.offset_of_timestamp(timestamp)

    def find_largest_timestamp(self) -> TimestampOffset | None:
        """The first record with the largest timestamp of all."""
        with storage_errors():
            return self.log.largest_timestamp()

    def delete_records_before(self, offset: int) -> int:
        """Move the log's start; -1 stands for the high watermark. What the start is now."""
        offset = self.log.high_watermark if offset == -1 else offset
        if offset < 0:
            raise PartitionError(ErrorCode.OFFSET_OUT_OF_RANGE)
        with storage_errors():
            self.log.advance_start(offset)
        self.notify()
        return self.log.start_offset
