"""Makes logs durable while the loop goes on: many appends, one sync.

A log has one flush at a time. What is appended meanwhile waits for the next one, which covers all of it: the busier a
partition is, the more appends share a sync.
"""

import logging
from collections.abc import Callable

from kafkish.deferred import Deferred
from kafkish.partitions.errors import from_storage
from kafkish.partitions.partition import Partition
from kafkish.workers import Workers, run_job
from kafkish_storage.errors import StorageError

log = logging.getLogger("kafkish.partitions")


class Flusher:
    """Flushes partitions that ask for it."""

    def __init__(self, workers: Workers, wall_ms: Callable[[], int]) -> None:
        self._workers = workers
        self._wall_ms = wall_ms

    def flush(self, partition: Partition) -> None:
        """Begin a flush, unless one is under way: then another follows it."""
        if partition.log.flushing is not None:
            return
        try:
            job = partition.log.flush(self._wall_ms())
        except StorageError as error:
            partition.disappoint(from_storage(error))
            return
        run_job(self._workers, job).on_done(lambda done: self._flushed(partition, done))

    def _flushed(self, partition: Partition, done: Deferred[None]) -> None:
        if partition.is_deleted:
            return
        try:
            done.result()
        except StorageError as error:
            log.error("%s-%d: %s", partition.topic, partition.index, error)
            partition.disappoint(from_storage(error))
            partition.notify()
            return
        partition.advance()
        if partition.log.end_offset > partition.log.recovery_point and partition.needs_flush(self._wall_ms()):
            self.flush(partition)
