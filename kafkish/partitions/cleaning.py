"""Compaction: as many logs at once as `log.cleaner.threads` says, one after the other while any needs it.

A log that cannot be compacted, say because a batch in it is damaged, is left alone until the restart: the others go on.
"""

import logging
import sys
from collections.abc import Callable, Iterator
from threading import Event

from kafkish.config.settings import LogSettings, Settings
from kafkish.deferred import Deferred, gather, in_turns, then
from kafkish.workers import Workers, run_job
from kafkish_storage import CleanerConfig, Log, LogManager
from kafkish_storage.compaction import CompactionJob, Throttle
from kafkish_storage.errors import CompactionCancelled, StorageError

log = logging.getLogger("kafkish.cleaning")


class Cleaning:
    """Finds what needs compaction, and has workers do it."""

    def __init__(
        self,
        logs: LogManager,
        settings: Callable[[], Settings],
        *,
        workers: Workers,
        wall_ms: Callable[[], int],
        monotonic_s: Callable[[], float],
    ) -> None:
        self.under_way: list[CompactionJob] = []
        self.finished = 0
        self._logs = logs
        self._settings = settings
        self._workers = workers
        self._wall_ms = wall_ms
        self._monotonic_s = monotonic_s
        self._stopping = Event()

    def stop(self) -> None:
        """Give up what is under way: nothing is lost, and nobody waits for it."""
        self._stopping.set()  # wakes who is throttled
        for job in self.under_way:
            job.cancel()

    def compact(self) -> Deferred[None] | None:
        """Done when there is nothing left to do.

        Only what recovery will not read can be compacted: so checkpoints come first, where logs have been flushed.
        """
        if not self._settings().log.log_cleaner_enable:
            return None
        behind = [directory for directory in self._logs.online if any(map(_is_behind, directory.logs.values()))]
        noted = gather([run_job(self._workers, directory.checkpoint_recovery_points()) for directory in behind])
        return then(noted, self._compact_all)

    def _compact_all(self) -> Deferred[None]:
        threads = self._settings().log.log_cleaner_threads
        return gather([in_turns(self._one_after_the_other()) for _ in range(threads)]).map(lambda _: None)

    def _one_after_the_other(self) -> Iterator[Deferred[None]]:
        while (job := self._next()) is not None:
            done = self._run(job)
            yield done
            if done.error is not None:
                return  # the next look comes in a while

    def _next(self) -> CompactionJob | None:
        if self._stopping.is_set():
            return None
        self._logs.config.cleaner = cleaner_config(self._settings().log)
        return self._logs.next_compaction(self._wall_ms())

    def _run(self, job: CompactionJob) -> Deferred[None]:
        """Copy, let the log read the copy, rename the files, note how far it came."""
        self.under_way.append(job)

        def adopt() -> Deferred[None]:
            try:
                job.adopt()
            except StorageError as error:
                return Deferred.failed(error)
            return self._workers.run(job.swap)

        def ended(done: Deferred[None]) -> None:
            self.under_way.remove(job)
            if done.error is None:
                self.finished += 1
                self._logs.compaction_ended(job, job.finish())
                saved = [run_job(self._workers, it.checkpoint_cleaned_offsets()) for it in self._logs.online]
                gather(saved).on_done(lambda saving: _pass_on(saving, finished))
            else:
                self._give_up(job, done.error)
                finished.fail(done.error)

        finished: Deferred[None] = Deferred()
        throttle = self._throttle()
        then(self._workers.run(lambda: job.run(throttle)), adopt).on_done(ended)
        return finished

    def _give_up(self, job: CompactionJob, error: Exception) -> None:
        if isinstance(error, CompactionCancelled):
            self._logs.compaction_ended(job, None)
        else:
            log.error("%s is not compacted any more until the restart: %s", job.log.partition, error)

    def _throttle(self) -> Throttle | None:
        rate = self._settings().log.log_cleaner_io_max_bytes_per_second
        return None if rate >= sys.float_info.max else Throttle(rate, self._monotonic_s, self._stopping.wait)


def cleaner_config(settings: LogSettings) -> CleanerConfig:
    """What one of the threads may use."""
    threads = max(1, settings.log_cleaner_threads)
    return CleanerConfig(
        dedupe_buffer_bytes=settings.log_cleaner_dedupe_buffer_bytes // threads,
        io_buffer_bytes=settings.log_cleaner_io_buffer_bytes // threads,
        io_buffer_load_factor=settings.log_cleaner_io_buffer_load_factor,
    )


def _is_behind(found: Log) -> bool:
    return found.config.compact and found.checkpointed_recovery_point < found.recovery_point


def _pass_on(done: Deferred[list[None]], finished: Deferred[None]) -> None:
    if done.error is None:
        finished.resolve(None)
    else:
        finished.fail(done.error)
