"""What is deleted from the start of a log, and when."""

from random import Random

import pytest

from kafkish_storage.config import LogConfig
from kafkish_storage.files.memory import MemoryFiles
from kafkish_storage.log import Log
from kafkish_storage.manager import LogManager, NewLog
from kafkish_storage.names import TopicPartition
from kafkish_storage.opening import StorageConfig
from kafkish_storage.tests.making import batch, read_all

SIZE = batch(b"x").size_bytes
PARTITION = TopicPartition("t", 0)


class Store:
    """A manager with one log of segments with three batches each; batch n has the timestamp 1000 + n."""

    def __init__(self, batches: int, **settings: object) -> None:
        self.disk = MemoryFiles()
        self.config = LogConfig(segment_bytes=3 * SIZE, file_delete_delay_ms=100, **settings)  # type: ignore[arg-type]
        self.manager = self.open()
        job = self.manager.create([NewLog(PARTITION)], 1000)
        job.run()
        job.finish()
        for at in range(batches):
            self.log.append_as_leader([batch(b"x", timestamp=1000 + at)], 0, 1000 + at)
        self.log.update_high_watermark(batches)

    def open(self) -> LogManager:
        return LogManager.open(
            self.disk, ["/data"], StorageConfig(config_of=lambda _: self.config), now_ms=1000, dice=Random(1)
        )

    @property
    def log(self) -> Log:
        log = self.manager.get(PARTITION)
        assert log is not None
        return log

    def retain(self, now_ms: int) -> int:
        job = self.manager.retain([self.log], now_ms)
        job.run()
        return job.finish()

    def offsets(self) -> list[int]:
        return [one.base_offset for one in read_all(self.log)]


def test_segments_go_when_their_newest_record_is_too_old() -> None:
    store = Store(9, retention_ms=100)
    assert store.retain(1102) == 0
    assert store.retain(1103) == 1
    assert store.offsets() == [3, 4, 5, 6, 7, 8]
    assert store.log.start_offset == 3


def test_the_last_segment_goes_too_and_the_offsets_go_on() -> None:
    store = Store(9, retention_ms=100)
    store.retain(5000)
    assert store.offsets() == []
    assert (store.log.start_offset, store.log.end_offset) == (9, 9)
    assert store.log.append_as_leader([batch(b"x")], 0, 5000).first_offset == 9


@pytest.mark.parametrize(("batches_to_keep", "first"), [(9, 0), (7, 0), (6, 3), (4, 3), (3, 6), (1, 6), (0, 9)])
def test_as_many_segments_stay_as_are_needed_for_the_size(batches_to_keep: int, first: int) -> None:
    store = Store(9, retention_bytes=batches_to_keep * SIZE, retention_ms=-1)
    store.retain(1000)
    assert store.log.start_offset == first


def test_what_is_not_replicated_stays() -> None:
    store = Store(9, retention_ms=100)
    store.log.update_high_watermark(5)
    store.retain(9000)
    assert store.offsets() == [3, 4, 5, 6, 7, 8]


def test_deleted_records_go_with_their_segments_also_from_a_compacted_log() -> None:
    store = Store(9, cleanup_policy=frozenset({"compact"}), retention_ms=1)
    store.log.advance_start(7)
    assert store.retain(9000) == 2
    assert [segment.base_offset for segment in store.log.segments] == [6]
    assert store.log.start_offset == 7


def test_files_are_renamed_first_and_removed_after_the_delay() -> None:
    store = Store(9, retention_ms=100)
    store.retain(1103)
    deleted = {path for path in store.disk.contents() if path.endswith(".deleted")}
    assert "/data/t-0/00000000000000000000.log.deleted" in deleted
    directory = store.manager.directories[0]
    directory.remove_garbage(1202).run()
    assert deleted <= set(store.disk.contents())
    directory.remove_garbage(1203).run()
    assert not deleted & set(store.disk.contents())


@pytest.mark.parametrize("is_clean", [True, False])
def test_the_start_of_a_log_stays_after_a_restart(is_clean: bool) -> None:
    store = Store(9, retention_ms=100)
    store.log.advance_start(4)
    store.retain(1000)
    if is_clean:
        store.manager.close()
    else:
        store.disk = store.disk.crashed(lambda: True)
    store.manager = store.open()
    assert store.log.start_offset == 4
    assert store.offsets() == [4, 5, 6, 7, 8]


def test_a_damaged_log_keeps_no_other_from_its_retention() -> None:
    store = Store(9, retention_ms=100)
    store.manager.close()
    store.manager = store.open()
    job = store.manager.create([NewLog(TopicPartition("u", 0))], 1000)
    job.run()
    [other] = job.finish()
    for at in range(9):
        other.append_as_leader([batch(b"x", timestamp=1000 + at)], 0, 1000 + at)
    other.update_high_watermark(9)
    store.disk.open("/data/t-0/00000000000000000000.log").write(16, [b"\x09"], 1)  # a format that does not exist
    retention = store.manager.retain([store.log, other], 1103)
    retention.run()
    assert retention.finish() == 1
    assert other.start_offset == 3
    assert store.log.start_offset == 0
    assert not store.manager.offline
