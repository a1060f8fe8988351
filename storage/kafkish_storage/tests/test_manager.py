"""Many logs in one directory or several."""

from random import Random

import pytest

from kafkish_storage.errors import DirectoryError, OfflineError, WrongDirectoryError
from kafkish_storage.files.memory import MemoryFiles
from kafkish_storage.manager import LogManager, NewLog
from kafkish_storage.names import TopicPartition
from kafkish_storage.opening import LoadProgress, StorageConfig
from kafkish_storage.properties import MetaProperties, write_meta_properties
from kafkish_storage.tests.making import batch, flush, read_all

T = TopicPartition("t", 0)


def open_manager(disk: MemoryFiles, *paths: str, progress: list[LoadProgress] | None = None) -> LogManager:
    told = None if progress is None else progress.append
    return LogManager.open(disk, paths or ["/data"], StorageConfig(), now_ms=1000, dice=Random(1), progress=told)


def create(manager: LogManager, *new: NewLog) -> None:
    job = manager.create(new, 1000)
    job.run()
    job.finish()


def with_ids(disk: MemoryFiles, **ids: str) -> None:
    for name, directory_id in ids.items():
        disk.make_directory(f"/{name}")
        write_meta_properties(disk, f"/{name}", MetaProperties("cluster", 1, directory_id))


def test_many_logs_are_loaded_with_progress() -> None:
    disk = MemoryFiles()
    told: list[LoadProgress] = []
    manager = open_manager(disk)
    create(manager, *(NewLog(TopicPartition("t", partition)) for partition in range(50)))
    manager.close()
    manager = open_manager(disk, progress=told)
    assert len(manager.logs) == 50
    assert max(one.loaded for one in told) == 50
    assert {one.total for one in told} == {50}


def test_new_logs_go_where_the_fewest_are_or_where_they_are_told_to() -> None:
    disk = MemoryFiles()
    with_ids(disk, a="A" * 22, b="B" * 22)
    manager = open_manager(disk, "/a", "/b")
    create(manager, *(NewLog(TopicPartition("t", partition)) for partition in range(4)))
    assert [len(directory.logs) for directory in manager.directories] == [2, 2]
    create(manager, *(NewLog(TopicPartition("u", partition), directory_id="B" * 22) for partition in range(3)))
    assert [len(directory.logs) for directory in manager.directories] == [2, 5]


def test_a_deleted_log_is_gone_at_once_and_its_files_later() -> None:
    disk = MemoryFiles()
    manager = open_manager(disk)
    create(manager, NewLog(T))
    manager.delete(T, 1000)
    assert manager.get(T) is None
    assert any("-delete/" in path for path in disk.contents())
    directory = manager.directories[0]
    directory.remove_garbage(60_999).run()
    assert any("-delete/" in path for path in disk.contents())
    directory.remove_garbage(61_000).run()
    assert not any("-delete" in path for path in disk.contents())


def test_a_log_that_was_being_deleted_does_not_come_back() -> None:
    disk = MemoryFiles()
    manager = open_manager(disk)
    create(manager, NewLog(T))
    manager.delete(T, 1000)
    manager = open_manager(disk.crashed(lambda: True))
    assert manager.get(T) is None
    assert manager.logs == []


def test_a_topic_created_again_has_nothing_of_the_old_one() -> None:
    disk = MemoryFiles()
    manager = open_manager(disk)
    create(manager, NewLog(T, "a" * 22))
    log = manager.get(T)
    assert log is not None
    log.append_as_leader([batch(b"old")] * 1, 0, 1000)
    flush(log)
    for job in manager.directories[0].checkpoint_all():
        job.run()
    manager.delete(T, 1000)
    create(manager, NewLog(T, "b" * 22))
    manager = open_manager(disk.crashed(lambda: True))
    log = manager.get(T)
    assert log is not None
    assert (log.topic_id, log.end_offset, log.recovery_point) == ("b" * 22, 0, 0)


def test_a_log_moves_to_another_directory() -> None:
    disk = MemoryFiles()
    with_ids(disk, a="A" * 22, b="B" * 22)
    manager = open_manager(disk, "/a", "/b")
    create(manager, NewLog(T, directory_id="A" * 22))
    log = manager.get(T)
    assert log is not None
    log.append_as_leader([batch(b"x"), batch(b"y")], 0, 1000)
    log.update_high_watermark(2)
    create(manager, NewLog(T, directory_id="B" * 22, is_future=True))
    future = manager.directories[1].future[T]
    future.append_as_follower(read_all(log), 0, 1000)
    moved = manager.promote(T, 1000)
    assert manager.get(T) is moved
    assert moved.high_watermark == 2
    assert [one.base_offset for one in read_all(moved)] == [0, 1]
    manager.close()
    manager = open_manager(disk, "/a", "/b")
    assert [list(directory.logs) for directory in manager.directories] == [[], [T]]


def test_a_stray_log_is_set_aside_and_kept() -> None:
    disk = MemoryFiles()
    manager = open_manager(disk)
    create(manager, NewLog(T))
    manager.set_aside(T, 1000)
    manager.close()
    manager = open_manager(disk)
    assert manager.logs == []
    manager.directories[0].remove_garbage(10**9).run()
    assert any("-stray/" in path for path in disk.contents())


def test_a_directory_that_is_no_partitions_is_left_alone() -> None:
    disk = MemoryFiles()
    for name in ("lost+found", "__cluster_metadata-0", "notes"):
        disk.make_directory(f"/data/{name}")
    manager = open_manager(disk)
    assert manager.logs == []
    assert {entry.name for entry in disk.entries("/data")} >= {"lost+found", "__cluster_metadata-0", "notes"}


def test_two_directories_with_one_id_or_one_partition_are_refused() -> None:
    disk = MemoryFiles()
    with_ids(disk, a="A" * 22, b="A" * 22)
    with pytest.raises(WrongDirectoryError, match=r"same directory\.id"):
        open_manager(disk, "/a", "/b")
    disk = MemoryFiles()
    for path in ("/a", "/b"):
        manager = open_manager(disk, path)
        create(manager, NewLog(T))
        manager.close()
    with pytest.raises(DirectoryError, match="t-0 is in /a and in /b"):
        open_manager(disk, "/a", "/b")


def test_a_clean_stop_is_believed_once() -> None:
    disk = MemoryFiles()
    manager = open_manager(disk)
    manager.close(broker_epoch=42)
    manager = open_manager(disk)
    assert manager.directories[0].was_clean
    assert manager.directories[0].previous_broker_epoch == 42
    manager = open_manager(disk.crashed(lambda: True))
    assert not manager.directories[0].was_clean


def test_no_log_is_placed_where_nothing_works() -> None:
    manager = open_manager(MemoryFiles())
    manager.directories[0].health.failed(OSError(5, "Input/output error"), "while testing")
    with pytest.raises(OfflineError, match="no directory is left for t-0"):
        manager.create([NewLog(T)], 1000)


def test_few_files_are_open_however_many_logs_are_used() -> None:
    disk = MemoryFiles()
    config = StorageConfig(open_segments=10)
    manager = LogManager.open(disk, ["/data"], config, now_ms=1000, dice=Random(1))
    create(manager, *(NewLog(TopicPartition("t", partition)) for partition in range(40)))
    for _ in range(3):
        for log in manager.logs:
            log.append_as_leader([batch(b"x")], 0, 1000)
            flush(log)
            assert len(manager.handles) <= 11
