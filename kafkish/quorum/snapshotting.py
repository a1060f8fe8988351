"""When to write a snapshot, how without holding anyone up, and what may be deleted behind it (KIP-630).

A snapshot is due when enough has been committed since the last (`metadata.log.max.record.bytes.between.snapshots`), or
anything at all and enough time has passed (`metadata.log.max.snapshot.interval.ms`). It is written by a worker in
slices. Snapshots go, oldest first and never the last one, while they and the log take more than
`metadata.max.retention.bytes`, or are older than `metadata.max.retention.ms`; the log then starts at the next one.
"""

import logging
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from kafkish.metadata.image import MetadataImage
from kafkish.metadata.records import encode_record, record_version
from kafkish.metadata.snapshot import snapshot_records
from kafkish.quorum.quorum import Quorum
from kafkish.quorum.snapshots import SnapshotWriter
from kafkish.timers import Timer
from kafkish_raft.ports import OffsetAndEpoch
from kafkish_raft.voters import VoterSet
from kafkish_storage import Files
from kafkish_storage.errors import DiskFullError

_log: Final = logging.getLogger(__name__)
_SLICE_RECORDS: Final = 1_000
_CLEANING_INTERVAL_MS: Final = 60_000  # Kafka's


class SnapshotLimits(NamedTuple):
    """How much is written between snapshots, and how much is kept. An interval of 0, or a negative limit, is none."""

    max_record_bytes: int
    max_interval_ms: int
    retention_bytes: int
    retention_ms: int


class SnapshotJob:
    """Writes one snapshot, slice by slice. Made on the owner's thread, run on any: an image never changes."""

    def __init__(
        self,
        files: Files,
        path: str,
        snapshot_id: OffsetAndEpoch,
        image: MetadataImage,
        header: tuple[int, VoterSet | None],
    ) -> None:
        self.snapshot_id = snapshot_id
        self.is_done = False
        self._files = files
        self._path = path
        self._image = image
        self._header = header
        self._records = snapshot_records(image)
        self._writer: SnapshotWriter | None = None

    def run(self, now_ms: int) -> None:
        """The next slice."""
        if self._writer is None:
            self._writer = SnapshotWriter(self._files, self._path)
            last_ms = self._image.provenance.timestamp_ms
            self._writer.write_header(self.snapshot_id, *self._header, last_ms=last_ms, now_ms=now_ms)
        values = list(islice(self._values(), _SLICE_RECORDS))
        if values:
            self._writer.write_records(values, now_ms)
        else:
            self._writer.finish(now_ms)
            self.is_done = True

    def _values(self) -> Iterator[bytes]:
        level = self._image.metadata_version
        return (encode_record(record, record_version(record, level)) for record in self._records)


class Snapshotter:
    """Writes and deletes snapshots of one quorum. Owner's thread."""

    def __init__(self, quorum: Quorum, files: Files, limits: SnapshotLimits) -> None:
        self._quorum = quorum
        self._files = files
        self._limits = limits
        self._is_writing = False
        self._last_ms = quorum.clock.monotonic_ms()
        self._timer: Timer | None = None
        quorum.follower.on_applied.append(lambda _offset: self.consider())
        quorum.timers.call_later(_CLEANING_INTERVAL_MS, self._clean_regularly)

    @property
    def _is_over(self) -> bool:
        return self._quorum.failure is not None or self._quorum.is_closing

    # -- writing

    def consider(self) -> None:
        """Begin a snapshot if one is due."""
        follower, limits, now_ms = self._quorum.follower, self._limits, self._quorum.clock.monotonic_ms()
        if self._is_writing or self._is_over or not follower.is_public or not follower.bytes_since_snapshot:
            return
        is_late = 0 < limits.max_interval_ms <= now_ms - self._last_ms
        if follower.bytes_since_snapshot >= limits.max_record_bytes or is_late:
            self._begin()
        elif limits.max_interval_ms > 0 and self._timer is None:
            delay_ms = limits.max_interval_ms - (now_ms - self._last_ms)
            self._timer = self._quorum.timers.call_later(delay_ms, self._time_passed)

    def _time_passed(self) -> None:
        self._timer = None
        self.consider()

    def _begin(self) -> None:
        """At the end of the image, unless there is a snapshot already, or a transaction is half replayed."""
        quorum = self._quorum
        image = quorum.image
        snapshot_id = OffsetAndEpoch(image.provenance.offset + 1, image.provenance.epoch)
        if quorum.follower.transaction_offset is not None:
            return
        try:
            header = quorum.raft.snapshot_header(snapshot_id)
        except ValueError:
            return
        self._last_ms = quorum.clock.monotonic_ms()
        quorum.follower.bytes_since_snapshot = 0
        self._is_writing = True
        path = quorum.log.snapshots.path(snapshot_id)
        self._continue(SnapshotJob(self._files, path, snapshot_id, image, header))

    def _continue(self, job: SnapshotJob) -> None:
        now_ms = self._quorum.clock.wall_ms()
        self._quorum.executor.submit(lambda: job.run(now_ms), lambda error: self._ran(job, error))

    def _ran(self, job: SnapshotJob, error: Exception | None) -> None:
        if self._is_over:
            return
        if error is None and not job.is_done:
            self._continue(job)
            return
        self._is_writing = False
        if error is not None:
            self._failed(error)
        else:
            self._quorum.log.snapshots.add(job.snapshot_id)
            self.clean()

    def _failed(self, error: Exception) -> None:
        """A full disk may get space again, and until then the log has it all. Anything else is the end of the disk."""
        if isinstance(error, OSError):
            error = self._quorum.log.log.health.failed(error, "while writing a snapshot")
        if isinstance(error, DiskFullError):
            _log.warning("no snapshot of the metadata was written: %s", error)
        else:
            self._quorum.fail(error)

    # -- deleting

    def clean(self) -> None:
        """Delete what the limits let go."""
        log, now_ms = self._quorum.log, self._quorum.clock.wall_ms()
        ids = log.snapshots.ids
        count = self._superfluous(ids, now_ms)
        if count:
            doomed = log.snapshots.forget(ids[:count])
            log.log.advance_start(ids[count].offset)
            self._quorum.executor.submit(lambda: log.snapshots.remove(doomed), self._removed)
        due = [path for due_ms, path in log.log.garbage if due_ms <= now_ms]
        if due:
            log.log.garbage = [entry for entry in log.log.garbage if entry[0] > now_ms]
            self._quorum.executor.submit(lambda: self._remove(due), self._report)

    def _superfluous(self, ids: list[OffsetAndEpoch], now_ms: int) -> int:
        """How many of the oldest snapshots may go."""
        log, limits, count = self._quorum.log, self._limits, 0
        total_bytes = log.log.size_bytes + sum(log.snapshots.sizes.values())
        while count < len(ids) - 1:
            is_excess = 0 <= limits.retention_bytes < total_bytes
            found = self._files.stat(log.snapshots.path(ids[count]))
            is_old = found is not None and 0 <= limits.retention_ms < now_ms - found.modified_ms
            if not is_excess and not is_old:
                break
            total_bytes -= log.snapshots.sizes[ids[count]]
            count += 1
        return count

    def _removed(self, error: Exception | None) -> None:
        """Segments go when the snapshots are durably gone: the earliest snapshot tells where the log starts."""
        self._report(error)
        if error is None and not self._is_over:
            try:
                self._quorum.log.log.drop_before_start(self._quorum.clock.wall_ms())
            except Exception as raised:  # the disk failed
                self._quorum.fail(raised)

    def _remove(self, paths: list[str]) -> None:
        for path in paths:
            self._files.remove(path)

    def _report(self, error: Exception | None) -> None:
        if error is not None:
            _log.warning("old metadata was not deleted, and will be after a restart: %s", error)

    def _clean_regularly(self) -> None:
        if not self._is_over:
            self.clean()
            self._quorum.timers.call_later(_CLEANING_INTERVAL_MS, self._clean_regularly)
