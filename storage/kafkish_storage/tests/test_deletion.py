"""A topic may be deleted, and come back with the same name, while a worker is at its files: at each step of a job."""

from collections.abc import Callable
from random import Random
from typing import Final

import pytest

from kafkish_storage.config import LogConfig
from kafkish_storage.errors import CompactionCancelled
from kafkish_storage.files.memory import MemoryFiles
from kafkish_storage.log import Log
from kafkish_storage.manager import LogManager, NewLog
from kafkish_storage.names import TopicPartition
from kafkish_storage.opening import StorageConfig
from kafkish_storage.tests.making import batch, flush, read_all

T: Final = TopicPartition("t", 0)
OLD_ID, NEW_ID = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
MOST_STEPS: Final = 80


def open_manager(disk: MemoryFiles) -> LogManager:
    return LogManager.open(disk, ["/data"], StorageConfig(), now_ms=1000, dice=Random(1))


def create(manager: LogManager, topic_id: str) -> Log:
    job = manager.create([NewLog(T, topic_id)], 1000)
    job.run()
    [log] = job.finish()
    return log


def flushed(log: Log, _: LogManager, work: Callable[[Callable[[], None]], None]) -> None:
    job = log.flush()
    work(job.run)
    job.finish()


def compacted(log: Log, manager: LogManager, work: Callable[[Callable[[], None]], None]) -> None:
    flush(log)
    for each in manager.online[0].checkpoint_all():
        each.run()
        each.finish()
    job = manager.next_compaction(2000)
    assert job is not None
    try:
        work(job.run)
        job.adopt()
        work(job.swap)
        manager.compaction_ended(job, job.finish())
    except CompactionCancelled:
        manager.compaction_ended(job, None)


@pytest.mark.parametrize("job", [flushed, compacted])
def test_a_topic_comes_back_while_a_worker_is_at_its_files(job: Callable[..., None]) -> None:
    """No directory goes offline for it, and the new log has nothing of the old one's."""
    for at in range(MOST_STEPS):
        disk = MemoryFiles()
        manager = open_manager(disk)
        old = create(manager, OLD_ID)
        old.config = LogConfig(cleanup_policy=frozenset({"compact"}), min_cleanable_dirty_ratio=0)
        for epoch in (3, 4):
            old.append_as_leader([batch(b"x")], epoch, 1000)
            old.roll(1000)
        old.update_high_watermark(old.end_offset)
        steps = Steps(disk, at, manager)
        job(old, manager, steps.work)
        assert not manager.offline, f"at step {at}"
        if steps.taken <= at:  # it was over before
            return
        new = manager.get(T)
        assert new is not None
        flush(new)
        after = open_manager(disk.crashed(lambda: False)).get(T)
        assert after is not None
        assert after.topic_id == NEW_ID
        assert [(entry.epoch, entry.start_offset) for entry in after.epochs.entries] == [(0, 0)]
        assert len(read_all(after)) == 1
    pytest.fail(f"the job has more than {MOST_STEPS} steps")


class Steps:
    """Replaces the topic when the workers have changed the disk so many times."""

    def __init__(self, disk: MemoryFiles, at: int, manager: LogManager) -> None:
        self.taken = 0
        self._disk, self._at, self._manager = disk, at, manager

    def work(self, run: Callable[[], None]) -> None:
        if run.__name__ == "swap":  # a deletion waits for it
            run()
            self._step()
            return
        self._step()
        self._disk.on_change = self._step
        run()
        self._disk.on_change = None

    def _step(self, *_: object) -> None:
        if self.taken == self._at:
            self._disk.on_change = None
            self._manager.delete(T, 1000)
            create(self._manager, NEW_ID).append_as_leader([batch(b"y")], 0, 1000)
        self.taken += 1
