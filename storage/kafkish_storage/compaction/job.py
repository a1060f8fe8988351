"""One compaction of one log.

    job = CompactionJob(candidate, config, now_ms)      owner's thread: what to read, and what to know of it
    job.run(throttle, progress)                         any thread: copies what stays into `.cleaned` files
    job.adopt()                                         owner's thread: the log reads the new segments from now on
    job.swap()                                          any thread: renames the files, durably
    job.finish()                                        owner's thread: returns the offset up to which it is compacted

`run` reads files that no longer change and writes files that nobody knows. If the log is cut meanwhile, `run` or
`adopt` raises CompactionCancelled and nothing has happened. Between `adopt` and `finish`, whoever needs the log's files
to have their own names calls `Log.settle`, which does the rest at once.
"""

import contextlib
from collections.abc import Callable

from kafkish_storage.aborted import TransactionScan, aborted_of, are_known
from kafkish_storage.compaction.choice import Candidate
from kafkish_storage.compaction.copying import CompactionStats, Copier, Replacement, Source
from kafkish_storage.compaction.filter import LastOfProducer
from kafkish_storage.compaction.swapping import Swap
from kafkish_storage.config import CleanerConfig
from kafkish_storage.errors import CompactionCancelled, CorruptLogError
from kafkish_storage.home import Home
from kafkish_storage.log import Log
from kafkish_storage.names import DELETED, SEGMENT_KINDS, segment_file
from kafkish_storage.segment import Segment


class CompactionJob:
    """See the module."""

    def __init__(self, candidate: Candidate, config: CleanerConfig, now_ms: int) -> None:
        log = self.log = candidate.log
        log.settle()
        log.health.check()
        self.stats = CompactionStats()
        self._generation = log.generation
        self._now_ms = now_ms
        self._done: list[Replacement] = []
        self._swap: Swap | None = None
        self._throttle: Callable[[int], None] | None = None
        self._progress: Callable[[CompactionStats], None] | None = None
        self._cleaned_offset = candidate.dirty_offset
        self._is_cancelled = False
        self._segments = log.segments.before(candidate.end_offset)
        has_snapshot = candidate.end_offset in log.snapshots.offsets
        self._snapshot = log.snapshots.path(candidate.end_offset) if has_snapshot else None
        last_of = {
            producer_id: LastOfProducer(entry.last_data_offset, entry.epoch)
            for producer_id, entry in log.producers.producers.items()
        }
        self._scan = None if are_known(log) else TransactionScan(log, 0, log.end_offset)
        self._copier = Copier(
            home=Home(log.home.files, log.home.path),
            config=log.config,
            cleaner=config,
            sources=[_source(log, segment, candidate.dirty_offset) for segment in self._segments],
            dirty_offset=candidate.dirty_offset,
            aborted=[] if self._scan else [entry for segment in log.segments for entry in aborted_of(log, segment)],
            producers=last_of,
            now_ms=now_ms,
            step=self._step,
            stats=self.stats,
        )

    def cancel(self) -> None:
        """Any thread. `run` stops soon."""
        self._is_cancelled = True

    def _step(self, count_bytes: int) -> None:
        if self._is_cancelled or self.log.generation != self._generation:
            raise CompactionCancelled(f"{self.log.partition} has changed")
        if self._throttle is not None:
            self._throttle(count_bytes)
        if self._progress is not None:
            self._progress(self.stats)

    def run(
        self,
        throttle: Callable[[int], None] | None = None,
        progress: Callable[[CompactionStats], None] | None = None,
    ) -> None:
        """Copy. `throttle` is told of every few bytes and may sleep; `progress` sees the figures as they grow."""
        self._throttle, self._progress = throttle, progress
        try:
            if self._scan is not None:
                self._copier.aborted = [entry for part in self._scan.run() for entry in part.aborted]
            self._cleaned_offset = self._copier.run(self._done)
            if self._snapshot is not None:
                self._copier.home.files.open(self._snapshot).sync()  # what goes can no longer tell of its producers
        except OSError as error:
            self._discard()
            if isinstance(error, FileNotFoundError):  # the topic was deleted
                raise CompactionCancelled(f"{self.log.partition} has gone") from error
            raise self.log.health.failed(error, f"while compacting {self.log.partition}") from error
        except CorruptLogError as error:
            self._discard()
            if self.log.generation != self._generation:  # cut under our eyes
                raise CompactionCancelled(f"{self.log.partition} has changed") from error
            raise
        except BaseException:
            self._discard()
            raise

    def _discard(self) -> None:
        for replacement in self._done:
            with contextlib.suppress(OSError):
                replacement.segment.remove_files()
        self._done.clear()

    def adopt(self) -> None:
        """Let the log read the new segments."""
        log = self.log
        replaced = [segment for segment in self._segments if self._is_replaced(segment)]
        changed = log.generation != self._generation or any(segment not in log.segments for segment in replaced)
        if self._is_cancelled or changed:
            self._discard()
            raise CompactionCancelled(f"{log.partition} has changed")
        new = [replacement.segment for replacement in self._done]
        for segment in new:
            segment.move_to(log.home)
        log.segments.replace(replaced, new)
        log.tail.clear()
        log.transactions_changed = True
        log.compacting = self
        old_offsets = [segment.base_offset for segment in replaced]
        self._swap = Swap(log.home.files, log.home.path, [segment.base_offset for segment in new], old_offsets)
        for segment in replaced:
            segment.sleep()

    def _is_replaced(self, segment: Segment) -> bool:
        return any(segment.base_offset in replacement.replaced for replacement in self._done)

    def swap(self) -> None:
        """Rename the files."""
        assert self._swap is not None
        try:
            self._swap.run()
        except OSError as error:
            raise self.log.health.failed(error, f"while swapping segments of {self.log.partition}") from error

    def finish(self) -> int:
        """The files have their names now."""
        log = self.log
        if log.compacting is not self:  # somebody has settled it
            return self._cleaned_offset
        log.compacting = None
        due_ms = self._now_ms + log.config.file_delete_delay_ms
        for segment, replaced in self._done:
            segment.settled()
            for offset in replaced:
                names = [segment_file(offset, kind, DELETED) for kind in SEGMENT_KINDS]
                snapshot = log.snapshots.mark_deleted(offset) if offset != segment.base_offset else None
                log.garbage += [(due_ms, log.home / name) for name in names]
                log.garbage += [(due_ms, snapshot)] if snapshot else []
        return self._cleaned_offset


def _source(log: Log, segment: Segment, dirty_offset: int) -> Source:
    following = log.segments.after(segment)
    assert following is not None  # the active segment is never compacted
    found = segment.find(dirty_offset) if segment.base_offset < dirty_offset and segment.size_bytes else None
    return Source(
        segment.base_offset,
        following.base_offset,
        log.home.files.open(segment.path),
        segment.size_bytes,
        segment.offset_index.size_bytes,
        segment.time_index.size_bytes,
        segment.modified_ms(),
        found[0] if found else 0,
    )
