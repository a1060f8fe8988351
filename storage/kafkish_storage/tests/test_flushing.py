"""What is durable, and what happens when it cannot be made so."""

import errno
from collections.abc import Callable
from random import Random
from threading import Thread

import pytest

from kafkish_storage.errors import OfflineError
from kafkish_storage.files.memory import MemoryFiles
from kafkish_storage.log import Log
from kafkish_storage.manager import LogManager, NewLog
from kafkish_storage.names import TopicPartition
from kafkish_storage.opening import StorageConfig
from kafkish_storage.tests.conftest import OpenLog
from kafkish_storage.tests.making import batch, flush, read_all


def append(log: Log, count: int) -> None:
    for _ in range(count):
        log.append_as_leader([batch(b"x")], 0, 1000)


def lost_all(disk: MemoryFiles) -> MemoryFiles:
    """The disk after a crash that lost everything that was not synced."""
    return disk.crashed(lambda: False)


def test_many_appends_are_made_durable_by_one_sync(open_log: OpenLog, disk: MemoryFiles) -> None:
    log = open_log()
    flush(log)
    append(log, 1)
    flush(log)
    synced: list[str] = []
    disk.on_change = lambda operation, path: synced.append(path) if operation == "sync" else None
    append(log, 100)
    assert synced == []
    assert flush(log) == 101
    assert synced == ["/data/t-0/00000000000000000000.log"]


def test_what_is_appended_while_a_worker_syncs_waits_for_the_next_flush(open_log: OpenLog) -> None:
    log = open_log()
    append(log, 3)
    job = log.flush()
    append(log, 2)
    worker = Thread(target=job.run)
    worker.start()
    worker.join()
    append(log, 1)
    assert job.finish() == 3
    assert log.recovery_point == 3
    assert flush(log) == 6


def test_a_flush_is_due_by_messages_or_by_time(open_log: OpenLog) -> None:
    log = open_log(flush_messages=3, flush_ms=500)
    append(log, 2)
    assert not log.flush_is_due(1499)
    assert log.flush_is_due(1500)
    append(log, 1)
    assert log.flush_is_due(1000)
    job = log.flush(2000)
    job.run()
    job.finish()
    assert not log.flush_is_due(9000)
    append(log, 1)
    assert not log.flush_is_due(2499)


def test_one_flush_at_a_time(open_log: OpenLog) -> None:
    log = open_log()
    append(log, 1)
    job = log.flush()
    with pytest.raises(RuntimeError, match="t-0 is being flushed"):
        log.flush()
    job.run()
    job.finish()
    flush(log)


def test_a_flush_that_a_cut_has_overtaken_claims_nothing(open_log: OpenLog) -> None:
    log = open_log()
    append(log, 5)
    job = log.flush()
    log.truncate_to(2, 1000)
    append(log, 4)
    job.run()
    assert job.finish() <= 2
    assert log.recovery_point <= 2


# -- a disk that fails

FAILURES: list[Callable[[Log], object]] = [
    lambda log: append(log, 1),
    lambda log: log.flush(),
    lambda log: log.truncate_to(0, 1000),
    lambda log: log.truncate_fully(9, 1000),
    lambda log: log.close(),
]


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EDQUOT])
def test_a_failed_sync_takes_the_directory_offline_for_good(open_log: OpenLog, disk: MemoryFiles, number: int) -> None:
    """Not even a sync that finds the disk full is tried again: the kernel has dropped what it could not write."""
    log = open_log()
    append(log, 1)
    flush(log)
    append(log, 1)
    told: list[str] = []
    log.health.on_failure = lambda health: told.append(health.directory)
    disk.fault = lambda operation, _: number if operation == "sync" else None
    job = log.flush()
    with pytest.raises(OfflineError, match=r"while syncing t-0 .*Mend the disk, then start the broker again"):
        job.run()
    assert job.finish() == 1
    assert log.recovery_point == 1
    disk.fault = None
    for action in FAILURES:
        with pytest.raises(OfflineError, match="is offline"):
            action(log)
    assert told == ["/data/t-0"]
    assert len(read_all(log)) == 2  # what can be read may be read


def test_only_the_directory_that_failed_is_offline() -> None:
    disk = MemoryFiles()
    manager = LogManager.open(disk, ["/a", "/b"], StorageConfig(), now_ms=1000, dice=Random(1))
    offline: list[str] = []
    manager.on_offline = offline.append
    job = manager.create([NewLog(TopicPartition("t", partition)) for partition in range(4)], 1000)
    job.run()
    job.finish()
    logs = manager.logs
    for log in logs:
        append(log, 1)
    disk.fault = lambda operation, path: errno.EIO if operation == "sync" and path.startswith("/a") else None
    for log in logs:
        if log.home.path.startswith("/a"):
            with pytest.raises(OfflineError):
                flush(log)
        else:
            assert flush(log) == 1
    assert offline == ["/a"]
    assert set(manager.offline) == {"/a"}
    assert [directory.path for directory in manager.online] == ["/b"]
    disk.fault = None
    manager.close()
    again = LogManager.open(lost_all(disk), ["/a", "/b"], StorageConfig(), now_ms=1000, dice=Random(1))
    assert [directory.was_clean for directory in again.directories] == [False, True]


def test_a_failed_read_takes_the_directory_offline(open_log: OpenLog, disk: MemoryFiles) -> None:
    append(open_log(), 40)
    log = open_log()
    disk.fault = lambda operation, _: errno.EIO if operation == "read" else None
    with pytest.raises(OfflineError, match="Input/output error while reading t-0"):
        log.read(20, 100)
