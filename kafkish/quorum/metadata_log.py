"""The metadata log: `__cluster_metadata-0` and its snapshots, as `kafkish_raft` wants to see them.

Reads serve the state machine, changes carry out its effects. Owner's thread; the jobs of a flush run on any.

    every offset below `start_offset` is in a snapshot, and the log starts where the earliest snapshot ends
    flushed_offset <= end_offset      a flush takes all that was appended before it began: many appends, one sync
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from kafkish.quorum.control import control_batch, read_controls, to_stored
from kafkish.quorum.ports import Clock, Executor
from kafkish.quorum.snapshots import PART, Snapshot, SnapshotFiles
from kafkish_protocol.records import Batch, CorruptBatchError, InvalidRecordError
from kafkish_protocol.records.batch import LENGTH_END
from kafkish_raft.effects import AppendControl, AppendFetched, WriteSnapshotChunk
from kafkish_raft.ports import OffsetAndEpoch
from kafkish_raft.voters import Control
from kafkish_storage import Files, LoadOptions, LogConfig, TopicPartition, load_log
from kafkish_storage.errors import CorruptLogError
from kafkish_storage.flushing import FlushJob
from kafkish_storage.log import Log
from kafkish_storage.names import LOG, METADATA_TOPIC, parse_segment_file
from kafkish_storage.properties import PARTITION_METADATA, write_topic_id

METADATA_PARTITION: Final = TopicPartition(METADATA_TOPIC, 0)
_TOPIC_ID: Final = "AAAAAAAAAAAAAAAAAAAAAQ"  # Kafka's, reserved for this topic
_READ_BYTES: Final = 1 << 20


class MetadataLog:
    """The Log of `kafkish_raft.ports`, on disk."""

    def __init__(self, files: Files, directory: str, config: LogConfig, clock: Clock, executor: Executor) -> None:
        """Open it, or make it. Blocks until what is in it is durable."""
        self._files = files
        self._clock = clock
        self._executor = executor
        self.directory = f"{directory}/{METADATA_PARTITION}"
        files.make_directory(self.directory)
        files.sync_directory(directory)
        self.snapshots = SnapshotFiles(files, self.directory)
        self.log = self._open(config)
        self._job: FlushJob | None = None
        self.on_flushed: Callable[[Exception | None], None] = lambda _error: None
        job = self.log.flush()
        job.run()
        job.finish()

    def _open(self, config: LogConfig) -> Log:
        """Where a crash came between a snapshot and the log that starts at it, the snapshot holds."""
        self._drop_useless_snapshots()
        start_offset = self.snapshots.ids[0].offset if self.snapshots.ids else 0
        options = LoadOptions(self._clock.wall_ms(), start_offset=start_offset)
        if self._files.stat(f"{self.directory}/{PARTITION_METADATA}") is None:
            write_topic_id(self._files, self.directory, _TOPIC_ID)
        log = load_log(self._files, self.directory, config, options, partition=METADATA_PARTITION)
        latest = self.latest_snapshot
        if latest is not None and log.end_offset < latest.offset:
            log.truncate_fully(latest.offset, self._clock.wall_ms())
            self.snapshots.remove_before(latest.offset)
        return log

    def _drop_useless_snapshots(self) -> None:
        """A snapshot before the first segment says nothing about what follows in the log."""
        names = [parse_segment_file(entry.name) for entry in self._files.entries(self.directory)]
        bases = [name.offset for name in names if name is not None and (name.kind, name.suffix) == (LOG, "")]
        first = min(bases, default=0)
        self.snapshots.remove_before(first)
        if first > 0 and not self.snapshots.ids:
            reason = f"the log starts at offset {first}, and there is no snapshot of what came before"
            raise CorruptLogError(self.directory, 0, reason)

    # -- what the state machine reads

    @property
    def start_offset(self) -> int:
        return self.log.start_offset

    @property
    def end_offset(self) -> int:
        return self.log.end_offset

    @property
    def flushed_offset(self) -> int:
        return self.log.recovery_point

    @property
    def last_epoch(self) -> int:
        last, latest = self.log.epochs.latest_epoch, self.latest_snapshot
        if last is not None:
            return last
        return latest.epoch if latest else 0

    @property
    def earliest_snapshot(self) -> OffsetAndEpoch | None:
        return next(iter(self.snapshots.sizes), None)

    @property
    def latest_snapshot(self) -> OffsetAndEpoch | None:
        return next(reversed(self.snapshots.sizes), None)

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        starts = [(entry.epoch, entry.start_offset) for entry in self.log.epochs.entries]
        earliest = self.earliest_snapshot
        if (
            earliest is not None
            and earliest.offset == self.start_offset
            and (not starts or earliest.epoch < starts[0][0])
        ):
            starts.insert(0, (earliest.epoch, self.start_offset))
        known = [start for start in starts if start[0] <= epoch]
        if not known:
            return OffsetAndEpoch(self.start_offset, epoch)
        following = starts[len(known) :]
        return OffsetAndEpoch(following[0][1] if following else self.end_offset, known[-1][0])

    def snapshot_size_bytes(self, snapshot_id: OffsetAndEpoch) -> int | None:
        return self.snapshots.sizes.get(snapshot_id)

    # -- what others read

    def read(self, offset: int, upper_offset: int, max_bytes: int = _READ_BYTES) -> list[Batch]:
        """Whole batches from an offset on, at least one if there is one."""
        return list(_whole_batches(self.read_bytes(offset, upper_offset, max_bytes)))

    def read_bytes(self, offset: int, upper_offset: int, max_bytes: int) -> bytes:
        """The same as bytes; the last batch may be cut off."""
        found = self.log.read(offset, max_bytes, upper_offset=upper_offset)
        return found.records.read() if found.records else b""

    def controls(self) -> tuple[Control, ...]:
        """The control records of the latest snapshot and of the log behind it."""
        latest, controls, offset = self.latest_snapshot, [], 0
        if latest is not None:
            controls += self.snapshots.read(latest).controls(latest.offset - 1)
            offset = latest.offset
        while offset < self.end_offset:
            batches = self.read(offset, self.end_offset)
            for batch in batches:
                controls += read_controls(batch) if batch.is_control else ()
            offset = batches[-1].next_offset
        return tuple(controls)

    # -- what effects change

    def append_control(self, effect: AppendControl) -> None:
        assert effect.base_offset == self.end_offset, "the leader knows where its log ends"
        now_ms = self._clock.wall_ms()
        batch = control_batch([to_stored(record) for record in effect.records], timestamp_ms=now_ms)
        self.log.append_as_leader([Batch(batch)], effect.epoch, now_ms)

    def append_batch(self, batch: Batch, base_offset: int, epoch: int) -> None:
        assert base_offset == self.end_offset, "the leader knows where its log ends"
        self.log.append_as_leader([batch], epoch, self._clock.wall_ms())

    def append_fetched(self, effect: AppendFetched) -> tuple[Control, ...]:
        """Whole, sound batches that continue the log; the control records among them."""
        assert isinstance(effect.records, bytes)
        batches: list[Batch] = []
        with suppress(CorruptBatchError, InvalidRecordError):  # what is sound before it is taken
            for batch in _whole_batches(effect.records):
                expected = batches[-1].next_offset if batches else self.end_offset
                if batch.base_offset != expected or batch.leader_epoch > effect.epoch or not batch.crc_is_valid():
                    break
                batches.append(batch)
        if batches:
            self.log.append_as_follower(batches, effect.epoch, self._clock.wall_ms())
        return tuple(control for batch in batches if batch.is_control for control in read_controls(batch))

    def truncate(self, end_offset: int) -> None:
        self.log.truncate_to(end_offset, self._clock.wall_ms())

    def write_chunk(self, effect: WriteSnapshotChunk) -> None:
        """A piece of the leader's snapshot."""
        assert isinstance(effect.data, bytes)
        path = self.snapshots.path(effect.snapshot_id) + PART
        if effect.position == 0:
            self._files.remove(path)
        file = self._files.open(path, create=effect.position == 0)
        file.write(effect.position, [effect.data], len(effect.data))
        file.close()

    def install(self, snapshot_id: OffsetAndEpoch) -> Snapshot:
        """The leader's snapshot is complete: the log goes on where it ends. A damaged one never gets its full name."""
        path = self.snapshots.path(snapshot_id)
        snapshot = Snapshot(path, self._files.read(path + PART) or b"")
        file = self._files.open(path + PART)
        file.sync()
        file.close()
        self._files.rename(path + PART, path)
        self._files.sync_directory(self.directory)
        self.snapshots.add(snapshot_id)
        self.log.truncate_fully(snapshot_id.offset, self._clock.wall_ms())
        self.snapshots.remove_before(snapshot_id.offset)
        return snapshot

    # -- flushing

    @property
    def is_flushing(self) -> bool:
        return self._job is not None

    def flush(self) -> None:
        """See that all that was appended becomes durable; `on_flushed` is told each time that more is."""
        if self._job is None and self.flushed_offset < self.end_offset:
            self._job = self.log.flush(self._clock.wall_ms())
            self._executor.submit(self._job.run, self._flushed)

    def _flushed(self, error: Exception | None) -> None:
        assert self._job is not None
        self._job.finish()
        self._job = None
        if error is None:
            self.flush()
        self.on_flushed(error)


def _whole_batches(data: bytes) -> Iterator[Batch]:
    """The batches of a piece of a log, but not one that is cut off."""
    view, position = memoryview(data), 0
    while len(view) - position >= LENGTH_END:
        size_bytes = int.from_bytes(view[position + 8 : position + LENGTH_END], "big", signed=True) + LENGTH_END
        if size_bytes > len(view) - position:
            return
        yield Batch(view, position)
        position += size_bytes
