"""What logs need from time to time: retention, flushes, checkpoints, expiry. The loop starts it, workers do it.

Each duty runs again only when it has ended: a slow disk makes housekeeping rarer, never more.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Final

from kafkish.config.settings import Settings
from kafkish.deferred import Deferred, gather, in_turns
from kafkish.partitions.cleaning import Cleaning
from kafkish.partitions.flusher import Flusher
from kafkish.partitions.table import PartitionTable
from kafkish.timers import Timers
from kafkish.workers import Workers, run_job
from kafkish_storage import Log, LogManager, TopicPartition
from kafkish_storage.config import NEVER
from kafkish_storage.errors import StorageError

log = logging.getLogger("kafkish.housekeeping")

_FLUSH_CHECK_MS: Final = 1_000
_FILES_CHECK_MS: Final = 5_000
_AT_ONCE: Final = 200
_MAX_TO_RECOVER_BYTES: Final = 256 * 1024 * 1024
"""Of one log: what is not on disk, or not noted to be, must be read again after a crash. This bounds the restart."""


class Housekeeping:
    """Starts each duty when its time has come."""

    def __init__(
        self,
        logs: LogManager,
        partitions: PartitionTable,
        flusher: Flusher,
        cleaning: Cleaning,
        settings: Callable[[], Settings],
        *,
        timers: Timers,
        workers: Workers,
        wall_ms: Callable[[], int],
    ) -> None:
        self._logs = logs
        self._partitions = partitions
        self._flusher = flusher
        self._cleaning = cleaning
        self._settings = settings
        self._timers = timers
        self._workers = workers
        self._wall_ms = wall_ms
        self._noted_bytes: dict[TopicPartition, int] = {}  # how large logs were when their recovery points were noted
        self._is_stopped = False

    def start(self) -> None:
        """Begin all duties."""
        self._repeat(self._cleaning.compact, lambda it: it.log.log_cleaner_backoff_ms)
        self._repeat(self._remove_garbage, lambda _: _FILES_CHECK_MS)
        self._repeat(self._flush, lambda it: min(_FLUSH_CHECK_MS, it.log.log_flush_scheduler_interval_ms))
        self._repeat(self._bound_recovery, lambda _: _FLUSH_CHECK_MS)
        self._repeat(self._expire_producers, lambda it: it.transactions.producer_id_expiration_check_interval_ms)
        self._repeat(
            self._checkpoint_high_watermarks, lambda it: it.replication.replica_high_watermark_checkpoint_interval_ms
        )
        self._timers.call_later(self._settings().log.log_initial_task_delay_ms, self._start_upkeep)

    def _start_upkeep(self) -> None:
        """What Kafka does for the first time when `log.initial.task.delay.ms` is over."""
        for duty, interval_ms in (
            (self._retain, lambda it: it.log.log_retention_check_interval_ms),
            (self._checkpoint_recovery_points, lambda it: it.log.log_flush_offset_checkpoint_interval_ms),
            (self._checkpoint_log_starts, lambda it: it.log.log_flush_start_offset_checkpoint_interval_ms),
        ):
            self._repeat(duty, interval_ms, at_once=True)

    def stop(self) -> None:
        """Begin nothing more."""
        self._is_stopped = True
        self._cleaning.stop()

    def _repeat(
        self,
        duty: Callable[[], Deferred[None] | None],
        interval_ms: Callable[[Settings], int],
        *,
        at_once: bool = False,
    ) -> None:
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

        (run if at_once else later)()

    # -- the duties

    def _retain(self) -> Deferred[None]:
        """To look at thousands of logs takes a while: some at a time."""
        logs = [found for found in self._logs.logs if found.config.delete or found.start_offset > 0]
        portions = (logs[first : first + _AT_ONCE] for first in range(0, len(logs), _AT_ONCE))
        return in_turns(self._retain_some(portion) for portion in portions)

    def _retain_some(self, logs: list[Log]) -> Deferred[None]:
        done = run_job(self._workers, self._logs.retain(logs, self._wall_ms()))
        return done.rescue(lambda error: log.error("%s", error))

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


def _all(work: Iterable[Deferred[None]]) -> Deferred[None]:
    return gather(list(work)).map(lambda _: None)
