"""The whole of it on a real disk: append, read, stop, start again."""

from pathlib import Path
from random import Random

import pytest

from kafkish_storage import DiskFiles, Log, LogManager, NewLog, StorageConfig, TopicPartition
from kafkish_storage.tests.making import batch, flush, read_all, records_of

EVENTS = TopicPartition("events", 0)
TOPIC_ID = "t" * 22


def open_manager(path: Path) -> LogManager:
    return LogManager.open(DiskFiles(), [str(path)], StorageConfig(), now_ms=1000, dice=Random(1))


def open_events(manager: LogManager) -> Log:
    job = manager.create([NewLog(EVENTS, TOPIC_ID)], now_ms=1000)
    job.run()
    job.finish()
    log = manager.get(EVENTS)
    assert log is not None
    return log


@pytest.mark.parametrize("is_clean", [True, False], ids=["after a clean stop", "after a crash"])
def test_what_was_appended_is_read_after_a_restart(tmp_path: Path, is_clean: bool) -> None:
    manager = open_manager(tmp_path)
    log = open_events(manager)
    first = log.append_as_leader([batch(b"a", b"b")], leader_epoch=3, now_ms=1000)
    second = log.append_as_leader([batch(b"c"), batch(b"d")], leader_epoch=3, now_ms=1000)
    assert (first.first_offset, first.last_offset) == (0, 1)
    assert (second.first_offset, second.last_offset) == (2, 3)
    assert flush(log) == 4
    assert [record.value for record in records_of(read_all(log))] == [b"a", b"b", b"c", b"d"]

    if is_clean:
        manager.close()
    else:
        manager.directories[0].abandon()
    manager = open_manager(tmp_path)
    log = open_events(manager)

    assert manager.directories[0].was_clean is is_clean
    assert [(record.offset, record.value) for record in records_of(read_all(log))] == [
        (0, b"a"), (1, b"b"), (2, b"c"), (3, b"d"),
    ]  # fmt: skip
    assert log.topic_id == TOPIC_ID
    assert log.append_as_leader([batch(b"e")], leader_epoch=3, now_ms=1000).first_offset == 4
    manager.close()
