"""The log of one partition. Owner's thread, except where a method says otherwise.

    start_offset <= last_stable_offset <= high_watermark <= end_offset     what may be read
    recovery_point <= end_offset                                           everything before it is durable

An append writes to the operating system and returns. It becomes durable by a flush, a job in three steps as every long
piece of work here: made on the owner's thread, run on any thread, finished on the owner's. Between the steps the log
goes on: no lock is held while appending or reading.

    job = log.flush()           # many appends later
    job.run()                   # in a worker: one sync
    job.finish()                # log.recovery_point is what log.end_offset was at the first step
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkish_protocol.records import NO_TIMESTAMP, Batch, stamp
from kafkish_storage import cutting, reading
from kafkish_storage.aborted import aborted_between, aborted_of
from kafkish_storage.config import LogConfig
from kafkish_storage.errors import BatchTooLargeError, OffsetOutOfRangeError, UnexpectedOffsetError
from kafkish_storage.files.port import Buffer
from kafkish_storage.flushing import FlushJob
from kafkish_storage.health import Health
from kafkish_storage.home import Home
from kafkish_storage.leader_epochs import EpochEnd, LeaderEpochs
from kafkish_storage.names import TopicPartition
from kafkish_storage.producers import Origin, ProducerState, VerificationGuard
from kafkish_storage.producers.files import SnapshotFiles
from kafkish_storage.reading import Read
from kafkish_storage.segment import MAX_RELATIVE_OFFSET, Segment, TimestampOffset
from kafkish_storage.segments import Segments
from kafkish_storage.transaction_index import AbortedTransaction

if TYPE_CHECKING:
    from kafkish_storage.compaction import CompactionJob

_TAIL_BATCHES: Final = 32


class Appended(NamedTuple):
    """What an append did. A duplicate was appended before, and nothing was written now."""

    first_offset: int
    last_offset: int
    log_append_time_ms: int
    is_duplicate: bool = False


class Log:
    """Made by `loading.load_log`."""

    def __init__(
        self,
        partition: TopicPartition,
        home: Home,
        config: LogConfig,
        segments: Segments,
        *,
        health: Health,
        dice: Random,
        producers: ProducerState,
        snapshots: SnapshotFiles,
        epochs: LeaderEpochs,
        start_offset: int,
        end_offset: int,
        recovery_point: int,
        now_ms: int,
        topic_id: str | None = None,
    ) -> None:
        self.partition = partition
        self.home = home
        self.config = config
        self.segments = segments
        self.health = health
        self.producers = producers
        self.snapshots = snapshots
        self.epochs = epochs
        self.start_offset = start_offset
        self.end_offset = end_offset
        self.high_watermark = start_offset
        self.recovery_point = recovery_point
        self.checkpointed_recovery_point = recovery_point
        self.topic_id = topic_id
        self.last_flush_ms = now_ms
        self.generation = 0  # goes up when offsets that were in the log are taken out of it
        self.names_changed = False  # files were made, renamed or removed, and no sync has covered it
        self.transactions_changed = False  # what the checkpoint of transaction indexes vouches for
        self.has_read_checksums = False  # of that checkpoint
        self.flushing: FlushJob | None = None
        self.compacting: CompactionJob | None = None  # whose new segments do not have their own names yet
        self.garbage: list[tuple[int, str]] = []  # (when it may go, path)
        self.on_cut: Callable[[Log, int], None] | None = None  # told before durable batches are cut, to note it on disk
        self._dice = dice
        self.tail: dict[int, tuple[Segment, int, int]] = {}  # base offset of late batches to where they are

    __slots__ = (
        "_dice", "checkpointed_recovery_point", "compacting", "config", "end_offset", "epochs", "flushing",
        "garbage", "generation", "has_read_checksums", "health", "high_watermark", "home", "last_flush_ms",
        "names_changed", "on_cut", "partition", "producers", "recovery_point", "segments", "snapshots", "start_offset",
        "tail", "topic_id", "transactions_changed",
    )  # fmt: skip

    # -- appending

    def append_as_leader(
        self,
        batches: Sequence[Batch],
        leader_epoch: int,
        now_ms: int,
        *,
        origin: Origin = Origin.CLIENT,
        guard: VerificationGuard | None = None,
        transaction_version: int = 0,
    ) -> Appended:
        """Give the batches the next offsets and write them, all or none.

        The caller has validated them. Their bytes may be read-only and are not copied; their fields are set to what was
        written. Raises a ProducerError if a batch does not continue what the log has of its producer.
        """
        if self.health.failure is not None:
            self.health.check()
        if len(batches) == 1:
            must_check = batches[0].producer_id >= 0 and not self.producers.continues(batches[0])
        else:
            must_check = any(batch.producer_id >= 0 for batch in batches)
        if must_check:
            duplicate = self._check_producers(batches, origin, guard, transaction_version)
            if duplicate is not None:
                return duplicate
        append_time_ms = now_ms if self.config.uses_log_append_time else None
        first_offset = next_offset = self.end_offset
        buffers: list[Buffer] = []
        length = 0
        for batch in batches:
            buffers += stamp(batch, next_offset, leader_epoch, append_time_ms)
            length += batch.size_bytes
            next_offset += batch.last_offset_delta + 1
        self._write(batches, buffers, length, next_offset, now_ms)
        return Appended(first_offset, next_offset - 1, NO_TIMESTAMP if append_time_ms is None else append_time_ms)

    def _check_producers(
        self, batches: Sequence[Batch], origin: Origin, guard: VerificationGuard | None, transaction_version: int
    ) -> Appended | None:
        """The answer for a batch that was appended before, if it is one; raises if one may not be appended."""
        if origin is Origin.CLIENT:
            duplicate = self.producers.find_duplicate(batches[0])
            if duplicate is not None:
                return Appended(duplicate.first_offset, duplicate.last_offset, duplicate.timestamp, is_duplicate=True)
        state = self.producers if len(batches) == 1 else self.producers.rehearsal(batches)
        for batch in batches:
            if batch.has_producer_id:
                state.check(batch, origin, guard=guard, transaction_version=transaction_version)
                if state is not self.producers:
                    state.apply(batch)
        return None

    def append_as_follower(self, batches: Sequence[Batch], leader_epoch: int, now_ms: int) -> Appended | None:
        """Write batches as a leader has numbered them, the first ones if not all can be.

        Batches of a leader that this follower does not know yet are left out: it may be about to cut its log for that
        leader. None if nothing is left. They may be in more than one segment; an error leaves the first ones appended.
        """
        self.health.check()
        known = [batch for batch in batches if batch.leader_epoch <= leader_epoch]
        if not known:
            return None
        expected = self.end_offset
        for batch in known:
            if batch.base_offset < expected:
                raise UnexpectedOffsetError(batch.base_offset, expected)
            expected = batch.next_offset
        for run in self._runs(known):
            length = sum(batch.size_bytes for batch in run)
            self._write(run, [batch.view for batch in run], length, run[-1].next_offset, now_ms)
        return Appended(known[0].base_offset, known[-1].last_offset, NO_TIMESTAMP)

    def _runs(self, batches: Sequence[Batch]) -> Iterator[list[Batch]]:
        """Split batches so that each part fits into a segment."""
        run: list[Batch] = []
        left_bytes = self.config.segment_bytes - self.segments.active.size_bytes
        for batch in batches:
            if run and batch.size_bytes > left_bytes:
                yield run
                run, left_bytes = [], self.config.segment_bytes
            run.append(batch)
            left_bytes -= batch.size_bytes
        yield run

    def _write(
        self, batches: Sequence[Batch], buffers: Sequence[Buffer], length: int, next_offset: int, now_ms: int
    ) -> None:
        config = self.config
        timestamp = batches[0].max_timestamp if len(batches) == 1 else max(batch.max_timestamp for batch in batches)
        if length > config.segment_bytes:
            raise BatchTooLargeError(f"{length} bytes at once, and a segment has {config.segment_bytes}")
        try:
            segment = self.segments.active
            if segment.should_roll(config, length, next_offset - 1, timestamp, now_ms):
                segment = self._roll_for(batches[0].base_offset, next_offset, now_ms)
            position = segment.size_bytes
            segment.write(buffers, length)
            self.end_offset = self.producers.end_offset = next_offset
            for batch in batches:
                self._take_in(segment, position, batch)
                position += batch.size_bytes
        except OSError as error:
            raise self.health.failed(error, f"while appending to {self.partition}") from error

    def _take_in(self, segment: Segment, position: int, batch: Batch) -> None:
        """Everything that is derived from a batch once it is in the log."""
        base_offset = batch.base_offset
        segment.note(position, batch.size_bytes, base_offset + batch.last_offset_delta, batch.max_timestamp)
        tail = self.tail
        tail[base_offset] = (segment, position, batch.size_bytes)
        if len(tail) > 2 * _TAIL_BATCHES:  # all at once: to find the first of a dict is not for free
            self.tail = dict(islice(tail.items(), _TAIL_BATCHES, None))
        if batch.leader_epoch >= 0:
            entries = self.epochs.entries
            if not entries or entries[-1].epoch != batch.leader_epoch:
                self.epochs.assign(batch.leader_epoch, base_offset)
        if batch.producer_id >= 0:
            ended = self.producers.apply(batch)
            if ended is not None and ended.is_aborted:
                known = aborted_of(self, segment)
                if not known or known[-1].last_offset < ended.last_offset:  # or it was found in the log just now
                    segment.transactions.append(AbortedTransaction.of(ended))
                self.transactions_changed = True

    # -- reading

    def read(
        self,
        offset: int,
        max_bytes: int,
        *,
        upper_offset: int | None = None,
        at_least_one: bool = True,
        with_aborted: bool = False,
    ) -> Read:
        """Batches from the one that holds an offset on, of one segment, below an upper offset.

        `upper_offset` is the end of the log (None), the high watermark or the last stable offset. With `at_least_one`
        the first batch is whole even if it is larger than `max_bytes`. `with_aborted` adds the aborted transactions
        that a reader of committed records must know to skip.
        """
        if not self.start_offset <= offset <= self.end_offset:
            raise OffsetOutOfRangeError(offset, self.start_offset, self.end_offset)
        upper_offset = self.end_offset if upper_offset is None else min(upper_offset, self.end_offset)
        try:
            found = reading.read(self, offset, max_bytes, upper_offset, at_least_one=at_least_one)
            if found is None or not with_aborted:
                return found or Read(None, offset, [])
            return found._replace(aborted=reading.aborted_in(self, offset, found))
        except OSError as error:
            raise self.health.failed(error, f"while reading {self.partition}") from error

    def aborted_transactions(self, start_offset: int, upper_offset: int) -> list[AbortedTransaction]:
        """The aborted transactions that have records in a range."""
        return aborted_between(self, start_offset, upper_offset)

    # -- looking up

    def offset_of_timestamp(self, timestamp: int) -> TimestampOffset | None:
        """The first record that is not older than a timestamp."""
        for segment in self.segments:
            if segment.size_bytes and segment.largest_timestamp()[0] >= timestamp:
                found = segment.find_timestamp(timestamp, self.start_offset)
                if found is not None:
                    return found
        return None

    def largest_timestamp(self) -> TimestampOffset | None:
        """The first record with the largest timestamp of all."""
        held = [segment for segment in self.segments if segment.size_bytes]
        newest = max(held, key=lambda segment: segment.largest_timestamp()[0], default=None)
        if newest is None or newest.largest_timestamp()[0] < 0:
            return None
        found = newest.find_largest_timestamp()
        if found is not None and found.offset >= self.start_offset:
            return found
        # It was before the log's start, or in a batch of which compaction has left only the header.
        visible = [segment.find_largest_timestamp_from(self.start_offset) for segment in held]
        return max(filter(None, visible), key=lambda one: one.timestamp, default=None)

    def end_of_epoch(self, leader_epoch: int) -> EpochEnd | None:
        """The last epoch not above the one asked for, and the offset after its last batch."""
        return self.epochs.end_of(leader_epoch, self.end_offset)

    # -- offsets

    @property
    def last_stable_offset(self) -> int:
        """Before it, every transaction has ended. Readers of committed records read up to it."""
        unstable = self.producers.first_unstable_offset
        if unstable is None or unstable >= self.high_watermark:
            return self.high_watermark
        return max(unstable, self.start_offset)

    def update_high_watermark(self, offset: int) -> int:
        """Set it, within the log, for the caller who knows what is replicated; return what it is now."""
        if offset > self.end_offset:
            offset = self.end_offset
        elif offset < self.start_offset:
            offset = self.start_offset
        self.high_watermark = offset
        self.producers.replicated_to(offset)
        return offset

    def advance_start(self, offset: int) -> bool:
        """Hide what is before an offset. Its segments are deleted by the next retention pass."""
        if offset > self.high_watermark:
            raise OffsetOutOfRangeError(offset, self.start_offset, self.high_watermark)
        if offset <= self.start_offset:
            return False
        self.start_offset = offset
        self.epochs.truncate_start(offset)
        self.producers.replicated_to(offset)
        self.producers.end_offset = max(self.producers.end_offset, offset)
        return True

    @property
    def has_segments_before_start(self) -> bool:
        return self.segments.floor(self.start_offset) is not self.segments.first

    @property
    def size_bytes(self) -> int:
        return self.segments.size_bytes

    # -- rolling

    def roll(self, now_ms: int) -> Segment:
        """Start a new segment at the end of the log."""
        try:
            return self._roll_for(self.end_offset, self.end_offset, now_ms)
        except OSError as error:
            raise self.health.failed(error, f"while rolling {self.partition}") from error

    def _roll_for(self, first_offset: int, next_offset: int, now_ms: int) -> Segment:
        """Start a new segment for batches that start at an offset.

        It is named after the end of the log, even if a gap follows (a leader that compacts): so recovery knows that
        segments without gaps between them are whole. Only a gap too large for an index is left between segments.
        """
        old = self.segments.active
        base_offset = self.end_offset
        if next_offset - base_offset > MAX_RELATIVE_OFFSET:
            base_offset = first_offset
        old.transactions.write()
        if base_offset == old.base_offset:  # it is empty, and cannot be rolled
            return old
        old.give_back()
        new = Segment.create(self.home, base_offset, self.config, now_ms=now_ms, jitter_ms=self._jitter_ms())
        old.seal()
        self.segments.add(new)
        self.names_changed = self.transactions_changed = True
        self.producers.end_offset = base_offset
        self.snapshots.take(self.producers)
        return new

    def _jitter_ms(self) -> int:
        limit_ms = min(self.config.segment_jitter_ms, self.config.segment_ms)
        return self._dice.randrange(limit_ms) if limit_ms > 0 else 0

    # -- cutting

    def truncate_to(self, offset: int, now_ms: int) -> bool:
        """Cut away every batch that does not end before an offset, durably. False if there was none."""
        self.health.check()
        try:
            return cutting.truncate(self, offset, now_ms)
        except OSError as error:
            raise self.health.failed(error, f"while truncating {self.partition}") from error

    def truncate_fully(self, offset: int, now_ms: int, *, start_offset: int | None = None) -> None:
        """Drop everything and go on at an offset, as a follower whose leader has nothing older."""
        self.health.check()
        try:
            cutting.truncate_fully(self, offset, offset if start_offset is None else start_offset, now_ms)
        except OSError as error:
            raise self.health.failed(error, f"while truncating {self.partition}") from error

    def drop_before_start(self, now_ms: int) -> int:
        """Delete the segments before `start_offset`, once that is in its checkpoint. How many."""
        self.health.check()
        try:
            return cutting.drop_before_start(self, now_ms)
        except OSError as error:
            raise self.health.failed(error, f"while deleting segments of {self.partition}") from error

    def settle(self) -> None:
        """Finish renaming what compaction has replaced, before anything else touches the files."""
        if self.compacting is not None:
            job = self.compacting
            job.swap()
            job.finish()

    # -- ending

    def close(self) -> None:
        """Make everything durable and trim the indexes, for a clean stop. Any thread, when nobody else uses the log."""
        self.health.check()
        try:
            self.settle()
            self.segments.active.transactions.write()
            self.segments.active.seal()
            self.snapshots.take(self.producers)
            self.epochs.changed = self.names_changed = True
            job = self.flush()
            job.run()
            job.finish()
            self.sleep()
        except OSError as error:
            raise self.health.failed(error, f"while closing {self.partition}") from error

    def rename(self, path: str) -> None:
        """Give the log's directory another name."""
        self.settle()
        try:
            self.home.files.rename(self.home.path, path)
        except OSError as error:
            raise self.health.failed(error, f"while renaming {self.partition}") from error
        self.home.path = path

    def sleep(self) -> None:
        """Close all files until the next use."""
        for segment in self.segments:
            segment.sleep()

    # -- flushing

    def flush_is_due(self, now_ms: int) -> bool:
        """Whether `flush.messages` or `flush.ms` asks for a flush."""
        unflushed = self.end_offset - self.recovery_point
        return unflushed >= self.config.flush_messages or (
            unflushed > 0 and now_ms - self.last_flush_ms >= self.config.flush_ms
        )

    def flush(self, now_ms: int | None = None) -> FlushJob:
        """The job that makes durable what is in the log now. One at a time."""
        if self.flushing is not None:
            raise RuntimeError(f"{self.partition} is being flushed; wait for that job to be finished")
        self.health.check()
        try:
            self.flushing = FlushJob(self)
        except OSError as error:
            raise self.health.failed(error, f"while flushing {self.partition}") from error
        self.last_flush_ms = self.last_flush_ms if now_ms is None else now_ms
        return self.flushing
