"""What logs need from time to time: retention, compaction, checkpoints, expiry. The loop starts it, workers do it.

Each duty runs again only when it has ended: a slow disk makes housekeeping rarer, never more.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Final

from kafkish.config.settings import Settings
from kafkish.deferred import Deferred, gather, then
from kafkish.partitions.flusher import Flusher
from kafkish.partitions.table import PartitionTable
from kafkish.timers import Timers
from kafkish.workers import Workers, run_job
from kafkish_storage import Log, LogManager, TopicPartition
from kafkish_storage.compaction import CompactionJob
from kafkish_storage.config import NEVER
from kafkish_storage.errors import CompactionCancelled, StorageError

log = logging.getLogger("kafkish.housekeeping")

_FLUSH_CHECK_MS: Final = 1_000
_FILES_CHECK_MS: Final = 5_000
_MAX_TO_RECOVER_BYTES: Final = 256 * 1024 * 1024
"""Of one log: what is not on disk, or not noted to be, must be read again after a crash. This bounds the restart."""


class Housekeeping:
    """Starts each duty when its time has come."""

    def __init__(
        self,
        logs: LogManager,
        partitions: PartitionTable,
        flusher: Flusher,
        settings: Callable[[], Settings],
        *,
        timers: Timers,
        workers: Workers,
        wall_ms: Callable[[], int],
    ) -> None:
        self._logs = logs
        self._partitions = partitions
        self._flusher = flusher
        self._settings = settings
        self._timers = timers
        self._workers = workers
        self._wall_ms = wall_ms
        self._noted_bytes: dict[TopicPartition, int] = {}  # how large logs were when their recovery points were noted
        self._is_stopped = False

    def start(self) -> None:
        """Begin all duties."""
        self._repeat(self._retain, lambda settings: settings.log.log_retention_check_interval_ms)
        self._repeat(self._compact, lambda settings: settings.log.log_cleaner_backoff_ms)
        self._repeat(self._remove_garbage, lambda _: _FILES_CHECK_MS)
        self._repeat(self._flush, lambda _: _FLUSH_CHECK_MS)
        self._repeat(self._bound_recovery, lambda _: _FLUSH_CHECK_MS)
        self._repeat(self._expire_producers, lambda it: it.transactions.producer_id_expiration_check_interval_ms)
        self._repeat(
            self._checkpoint_high_watermarks,
            lambda settings: settings.replication.replica_high_watermark_checkpoint_interval_ms,
        )
        self._repeat(
            self._checkpoint_recovery_points, lambda settings: settings.log.log_flush_offset_checkpoint_interval_ms
        )
        self._repeat(
            self._checkpoint_log_starts, lambda settings: settings.log.log_flush_start_offset_checkpoint_interval_ms
        )

    def stop(self) -> None:
        """Begin nothing more."""
        self._is_stopped = True

    def _repeat(self, duty: Callable[[], Deferred[None] | None], interval_ms: Callable[[Settings], int]) -> None:
        def later() -> None:
            if not self._is_stopped:
                self._timers.call_later(interval_ms(self._settings()), run)

        def run() -> None:
            if self._is_stopped:
                return
            try:
                done = duty()
            except StorageError as error:
                log.error("%s", error)
                done = None
            if done is None:
                later()
            else:
                done.on_done(ended)

        def ended(done: Deferred[None]) -> None:
            try:
                done.result()
            except StorageError as error:
                log.error("%s", error)
            later()

        later()

    # -- the duties

    def _retain(self) -> Deferred[None] | None:
        logs = [found for found in self._logs.logs if found.config.delete or found.start_offset > 0]
        return run_job(self._workers, self._logs.retain(logs, self._wall_ms())) if logs else None

    def _remove_garbage(self) -> Deferred[None]:
        now_ms = self._wall_ms()
        jobs = [directory.remove_garbage(now_ms) for directory in self._logs.online]
        return _all(self._workers.run(job.run) for job in jobs)

    def _flush(self) -> None:
        now_ms = self._wall_ms()
        for partition in self._partitions:
            is_due = partition.log.config.flush_ms < NEVER and partition.needs_flush(now_ms)
            if is_due or partition.unflushed_bytes > _MAX_TO_RECOVER_BYTES:
                self._flusher.flush(partition)

    def _bound_recovery(self) -> Deferred[None] | None:
        """Note recovery points where much has been flushed since they were noted."""
        due = [directory for directory in self._logs.online if any(map(self._has_grown, directory.logs.values()))]
        if not due:
            return None
        for directory in due:
            self._noted_bytes.update({partition: found.size_bytes for partition, found in directory.logs.items()})
        return _all(run_job(self._workers, directory.checkpoint_recovery_points()) for directory in due)

    def _has_grown(self, found: Log) -> bool:
        if found.checkpointed_recovery_point >= found.recovery_point:
            return False
        return found.size_bytes - self._noted_bytes.get(found.partition, 0) > _MAX_TO_RECOVER_BYTES

    def _expire_producers(self) -> None:
        self._logs.remove_expired_producers(self._wall_ms())

    def _checkpoint_high_watermarks(self) -> Deferred[None]:
        return _all(run_job(self._workers, it.checkpoint_high_watermarks()) for it in self._logs.online)

    def _checkpoint_recovery_points(self) -> Deferred[None]:
        return _all(run_job(self._workers, it.checkpoint_recovery_points()) for it in self._logs.online)

    def _checkpoint_log_starts(self) -> Deferred[None]:
        return _all(run_job(self._workers, it.checkpoint_log_starts()) for it in self._logs.online)

    def _compact(self) -> Deferred[None] | None:
        """Compact the log that needs it most; then look again.

        Only what recovery will not read can be compacted: so checkpoints come first, where logs have been flushed.
        """
        if not self._settings().log.log_cleaner_enable:
            return None
        behind = [directory for directory in self._logs.online if any(map(_is_behind, directory.logs.values()))]
        if behind:
            noted = _all(run_job(self._workers, directory.checkpoint_recovery_points()) for directory in behind)
            return then(noted, self._compact_next)
        return self._compact_next()

    def _compact_next(self) -> Deferred[None]:
        job = self._logs.next_compaction(self._wall_ms())
        return Deferred.of(None) if job is None else self._run_compaction(job)

    def _run_compaction(self, job: CompactionJob) -> Deferred[None]:
        finished: Deferred[None] = Deferred()

        def copied(done: Deferred[None]) -> None:
            try:
                done.result()
                job.adopt()
            except (CompactionCancelled, StorageError) as error:
                self._logs.compaction_ended(job, None)
                _end(finished, error)
                return
            self._workers.run(job.swap).on_done(swapped)

        def swapped(done: Deferred[None]) -> None:
            try:
                done.result()
            except StorageError as error:
                self._logs.compaction_ended(job, None)
                _end(finished, error)
                return
            self._logs.compaction_ended(job, job.finish())
            saved = _all(run_job(self._workers, it.checkpoint_cleaned_offsets()) for it in self._logs.online)
            saved.on_done(lambda done: finished.fail(done.error) if done.error else finished.resolve(None))

        self._workers.run(job.run).on_done(copied)
        return finished


def _is_behind(found: Log) -> bool:
    return found.config.compact and found.checkpointed_recovery_point < found.recovery_point


def _end(finished: Deferred[None], error: StorageError) -> None:
    """A compaction that was overtaken by events is nobody's failure."""
    if isinstance(error, CompactionCancelled):
        finished.resolve(None)
    else:
        finished.fail(error)


def _all(work: Iterable[Deferred[None]]) -> Deferred[None]:
    return gather(list(work)).map(lambda _: None)
