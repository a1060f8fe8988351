"""Compaction keeps the last record of each key, and what Kafka keeps with it."""

import struct
from random import Random

import pytest

from kafkish_protocol.records import Compression, Record
from kafkish_storage.compaction import CompactionStats, Throttle
from kafkish_storage.compaction.offset_map import OffsetMap
from kafkish_storage.config import CleanerConfig, LogConfig
from kafkish_storage.errors import CompactionCancelled
from kafkish_storage.files.memory import MemoryFiles
from kafkish_storage.log import Log
from kafkish_storage.manager import LogManager, NewLog
from kafkish_storage.names import TopicPartition
from kafkish_storage.opening import StorageConfig
from kafkish_storage.producers import Origin
from kafkish_storage.tests.making import batch, flush, keyed, marker, read_all, records_of

PARTITION = TopicPartition("t", 0)


class Store:
    """A manager with one compacted log, and a clock."""

    def __init__(self, *, buffer_bytes: int = 1 << 20, **settings: object) -> None:
        self.now_ms = 1000
        options = {"cleanup_policy": frozenset({"compact"}), "min_cleanable_dirty_ratio": 0.01, **settings}
        self.config = LogConfig(**options)  # type: ignore[arg-type]  # as the tests name them
        self.storage = StorageConfig(
            config_of=lambda _: self.config, cleaner=CleanerConfig(dedupe_buffer_bytes=buffer_bytes)
        )
        self.disk = MemoryFiles()
        self.open()
        job = self.manager.create([NewLog(PARTITION)], 1000)
        job.run()
        job.finish()

    def open(self) -> None:
        self.manager = LogManager.open(self.disk, ["/data"], self.storage, now_ms=self.now_ms, dice=Random(1))

    @property
    def log(self) -> Log:
        log = self.manager.get(PARTITION)
        assert log is not None
        return log

    def put(self, *pairs: tuple[str, str | None], **options: object) -> None:
        encoded = [(key.encode(), None if value is None else value.encode()) for key, value in pairs]
        self.log.append_as_leader([keyed(encoded, self.now_ms, **options)], 0, self.now_ms)

    def seal(self) -> None:
        """Make all that was put ready to be compacted."""
        self.log.roll(self.now_ms)
        flush(self.log)
        self.log.update_high_watermark(self.log.end_offset)
        self.checkpoint()

    def checkpoint(self) -> None:
        for job in self.manager.directories[0].checkpoint_all():
            job.run()
            job.finish()

    def compact(self) -> bool:
        """Seal and compact; whether there was anything to do."""
        self.seal()
        job = self.manager.next_compaction(self.now_ms)
        if job is None:
            return False
        job.run()
        job.adopt()
        job.swap()
        self.manager.compaction_ended(job, job.finish())
        return True

    def records(self) -> list[Record]:
        return records_of(read_all(self.log))

    def pairs(self) -> list[tuple[int, str, str | None]]:
        return [
            (one.offset, (one.key or b"").decode(), None if one.value is None else one.value.decode())
            for one in self.records()
        ]


@pytest.mark.parametrize("codec", list(Compression), ids=lambda codec: codec.name)
def test_the_last_value_of_each_key_stays_at_its_offset(codec: Compression) -> None:
    store = Store()
    store.put(("a", "1"), ("b", "1"), compression=codec)
    store.put(("a", "2"), ("c", "1"), compression=codec)
    store.put(("b", "2"), compression=codec)
    assert store.compact()
    assert store.pairs() == [(2, "a", "2"), (3, "c", "1"), (4, "b", "2")]
    assert all(one.crc_is_valid() for one in read_all(store.log))
    assert all(one.compression == codec for one in read_all(store.log))


def test_the_active_segment_is_not_touched() -> None:
    store = Store()
    store.put(("a", "1"))
    store.seal()
    store.put(("a", "2"))
    job = store.manager.next_compaction(store.now_ms)
    assert job is not None
    job.run()
    job.adopt()
    job.swap()
    job.finish()
    assert store.pairs() == [(0, "a", "1"), (1, "a", "2")]


def test_a_tombstone_stays_for_delete_retention_after_it_was_first_seen() -> None:
    store = Store(delete_retention_ms=100)
    store.put(("a", "1"), ("b", "1"))
    store.put(("a", None))
    store.compact()
    assert store.pairs() == [(1, "b", "1"), (2, "a", None)]
    store.now_ms += 99
    store.put(("x", "1"))
    store.compact()
    assert (2, "a", None) in store.pairs()
    store.now_ms += 1
    store.put(("y", "1"))
    store.compact()
    assert [key for _, key, _ in store.pairs()] == ["b", "x", "y"]


def test_a_record_without_a_key_goes() -> None:
    store = Store()
    store.log.append_as_leader([keyed([(None, b"1"), (b"a", b"1")])], 0, 1000)
    store.compact()
    assert store.pairs() == [(1, "a", "1")]


@pytest.mark.parametrize("is_known", [True, False], ids=["", "the index is lost"])
def test_aborted_records_go_and_do_not_shadow_what_was_committed(is_known: bool) -> None:
    store = Store()
    store.put(("a", "old"))
    for producer_id, commit in ((5, False), (6, True)):
        guard = store.log.producers.start_verification(producer_id, 0, 0, supports_epoch_bump=False, now_ms=1000)
        one = keyed(
            [(b"a" if not commit else b"c", b"%d" % producer_id)], 1000,
            producer_id=producer_id, producer_epoch=0, base_sequence=0, transactional=True,
        )  # fmt: skip
        store.log.append_as_leader([one], 0, 1000, guard=guard)
        store.log.append_as_leader([marker(commit, producer_id)], 0, 1000, origin=Origin.COORDINATOR)
    store.put(("z", "1"))
    store.manager.close()
    for name in ("00000000000000000000.txnindex", "transaction-index-checkpoint") if not is_known else ():
        assert store.disk.stat(f"/data/t-0/{name}")
        store.disk.remove(f"/data/t-0/{name}")
    store.open()
    store.compact()
    assert store.pairs() == [(0, "a", "old"), (3, "c", "6"), (5, "z", "1")]
    assert store.log.aborted_transactions(0, store.log.end_offset) == [(5, 1, 2, 3)]


def with_a_committed_and_an_aborted_transaction() -> Store:
    store = Store()
    for number, commit in enumerate((True, False)):
        guard = store.log.producers.start_verification(5, number, 0, supports_epoch_bump=False, now_ms=1000)
        options = {"producer_id": 5, "producer_epoch": 0, "base_sequence": number, "transactional": True}
        store.log.append_as_leader([keyed([(b"k%d" % number, b"v")], 1000, **options)], 0, 1000, guard=guard)
        store.log.append_as_leader([marker(commit, 5)], 0, 1000, origin=Origin.COORDINATOR)
    store.put(("z", "1"))
    return store


def test_an_index_that_tells_more_than_the_compacted_log_is_believed_if_it_is_true() -> None:
    """Compaction, here and in Kafka, keeps the entry of an aborted transaction longer than its records."""
    store = with_a_committed_and_an_aborted_transaction()
    store.compact()
    expected = store.log.aborted_transactions(0, store.log.end_offset)
    assert expected == [(5, 2, 3, 4)]
    store.manager.close()
    store.disk.remove("/data/t-0/transaction-index-checkpoint")
    store.open()
    assert store.log.aborted_transactions(0, store.log.end_offset) == expected


@pytest.mark.parametrize("entry", [(5, 0, 3, 4), (5, 2, 3, 5), (5, 3, 3, 4), (6, 2, 3, 4), (5, 2, 1, 4), None])
def test_an_index_that_would_hide_or_show_the_wrong_records_is_not_believed(entry: tuple[int, ...] | None) -> None:
    store = with_a_committed_and_an_aborted_transaction()
    store.manager.close()
    store.disk.remove("/data/t-0/transaction-index-checkpoint")
    file = store.disk.open("/data/t-0/00000000000000000000.txnindex")
    assert file.read(0, 100) == struct.pack(">hqqqq", 0, 5, 2, 3, 4)
    file.truncate(0)
    if entry is not None:
        file.write(0, [struct.pack(">hqqqq", 0, *entry)], 34)
    store.open()
    assert store.log.aborted_transactions(0, store.log.end_offset) == [(5, 2, 3, 4)]


def test_an_open_transaction_is_not_compacted() -> None:
    store = Store()
    store.put(("a", "1"))
    guard = store.log.producers.start_verification(5, 0, 0, supports_epoch_bump=False, now_ms=1000)
    one = keyed([(b"a", b"open")], 1000, producer_id=5, producer_epoch=0, base_sequence=0, transactional=True)
    store.log.append_as_leader([one], 0, 1000, guard=guard)
    store.compact()
    assert store.pairs() == [(0, "a", "1"), (1, "a", "open")]


def test_the_last_batch_of_an_active_producer_stays_even_empty() -> None:
    """Or its next batch would be out of order after a restart."""
    store = Store()
    one = keyed([(b"a", b"1")], 1000, producer_id=5, producer_epoch=0, base_sequence=0)
    store.log.append_as_leader([one], 0, 1000)
    store.put(("a", "2"))
    store.put(("b", "1"))
    store.compact()
    assert [(batch.base_offset, batch.count) for batch in read_all(store.log)] == [(0, 0), (1, 1), (2, 1)]
    store.manager.close()
    store.open()
    assert store.log.append_as_leader([one], 0, 1000).is_duplicate


def test_min_compaction_lag_protects_young_records() -> None:
    store = Store(min_compaction_lag_ms=100)
    store.put(("a", "1"))
    store.put(("a", "2"))
    assert not store.compact()
    store.now_ms += 101
    assert store.compact()
    assert store.pairs() == [(1, "a", "2")]


def test_a_log_waits_until_it_is_dirty_enough_or_too_long() -> None:
    store = Store(min_cleanable_dirty_ratio=0.5, max_compaction_lag_ms=100)
    for at in range(8):
        store.put((f"{at}", "1"))
    assert store.compact()
    store.put(("0", "2"))
    assert not store.compact()
    store.now_ms += 101
    assert store.compact()
    assert (0, "0", "1") not in store.pairs()


def test_small_segments_are_joined_and_the_old_files_removed_after_a_delay() -> None:
    store = Store(file_delete_delay_ms=100)
    for at in range(5):
        store.put(("a", f"{at}"))
        store.log.roll(1000)
    store.compact()
    assert [segment.base_offset for segment in store.log.segments] == [0, 5]
    assert any(path.endswith(".log.deleted") for path in store.disk.contents())
    store.manager.directories[0].remove_garbage(1100).run()
    names = {path.rpartition("/")[2] for path in store.disk.contents()}
    assert not any(name.endswith((".deleted", ".cleaned", ".swap")) for name in names)


def test_more_keys_than_memory_are_compacted_in_several_passes() -> None:
    store = Store(buffer_bytes=24 * 11)  # for about nine keys
    for turn in range(2):
        for at in range(40):
            store.put((f"{at}", f"{turn}"))
            if at % 5 == 4:
                store.log.roll(1000)
    passes = 0
    while store.compact() and passes < 100:
        passes += 1
    assert 5 < passes < 100
    assert [(key, value) for _, key, value in store.pairs()] == [(f"{at}", "1") for at in range(40)]


def test_reads_go_on_while_files_are_swapped() -> None:
    store = Store()
    store.put(("a", "1"), ("b", "1"))
    store.put(("a", "2"))
    store.seal()
    before = store.log.read(0, 1000).records
    job = store.manager.next_compaction(1000)
    assert before is not None
    assert job is not None
    old = before.read()
    job.run()
    assert store.pairs() == [(0, "a", "1"), (1, "b", "1"), (2, "a", "2")]
    job.adopt()
    assert store.pairs() == [(1, "b", "1"), (2, "a", "2")]
    store.put(("c", "1"))
    job.swap()
    assert job.finish() == 3
    assert store.pairs() == [(1, "b", "1"), (2, "a", "2"), (3, "c", "1")]
    assert before.read() == old


@pytest.mark.parametrize("when", ["before the copy", "after the copy"])
def test_a_log_that_is_cut_meanwhile_is_left_as_it_is(when: str) -> None:
    store = Store()
    for at in range(4):
        store.put(("a", f"{at}"))
    store.seal()
    job = store.manager.next_compaction(1000)
    assert job is not None
    if when == "after the copy":
        job.run()
    store.log.truncate_to(2, 1000)
    with pytest.raises(CompactionCancelled):
        (job.adopt if when == "after the copy" else job.run)()
    store.manager.compaction_ended(job, None)
    assert store.pairs() == [(0, "a", "0"), (1, "a", "1")]
    assert not any(path.endswith(".cleaned") for path in store.disk.contents())


def test_progress_is_told_and_the_pace_is_kept() -> None:
    store = Store()
    for at in range(20):
        store.put((f"{at % 3}", "x" * 100))
    store.seal()
    job = store.manager.next_compaction(1000)
    assert job is not None
    told: list[tuple[int, int]] = []
    slept: list[float] = []
    clock = [0.0]

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds

    def progress(stats: CompactionStats) -> None:
        told.append((stats.bytes_read, stats.bytes_to_read))

    job.run(Throttle(1000, lambda: clock[0], sleep), progress)
    assert told[-1][0] == told[-1][1] > 0
    moved_bytes = job.stats.bytes_read + job.stats.bytes_written
    assert sum(slept) == pytest.approx(moved_bytes / 1000)


def test_a_compacted_log_is_the_same_after_a_restart_of_either_kind() -> None:
    store = Store(segment_bytes=400)
    for at in range(30):
        store.put((f"{at % 7}", f"{at}"))
    store.compact()
    store.checkpoint()
    before = store.pairs()
    store.disk = store.disk.crashed(lambda: True)
    store.open()
    assert store.pairs() == before
    store.manager.close()
    store.open()
    assert store.pairs() == before
    assert store.manager.directories[0].cleaned[PARTITION] > 0


def test_compact_and_delete_does_both() -> None:
    store = Store(cleanup_policy=frozenset({"compact", "delete"}), retention_ms=500)
    store.put(("a", "1"))
    store.put(("a", "2"))
    store.compact()
    assert store.pairs() == [(1, "a", "2")]
    store.now_ms += 501
    job = store.manager.retain([store.log], store.now_ms)
    job.run()
    job.finish()
    assert store.pairs() == []


def test_the_map_of_keys_fills_every_slot_it_may() -> None:
    for slots in range(2, 60):
        offsets = OffsetMap(24 * slots, 0.9)
        for at in range(offsets.capacity):
            offsets.put(b"%d" % at, at)
        assert offsets.is_full
        assert [offsets.get(b"%d" % at) for at in range(offsets.capacity)] == list(range(offsets.capacity))
        assert offsets.get(b"none") == -1


def test_a_batch_that_was_copied_is_found_by_its_offset_and_time() -> None:
    store = Store(index_interval_bytes=100)
    for at in range(50):
        store.now_ms += 1
        store.log.append_as_leader([batch(b"x" * 50, key=b"%d" % (at % 20), timestamp=store.now_ms)], 0, store.now_ms)
    store.compact()
    for one in store.records():
        assert store.log.read(one.offset, 1).base_offset == one.offset
        found = store.log.offset_of_timestamp(one.timestamp)
        assert found is not None
        assert found.offset == one.offset
