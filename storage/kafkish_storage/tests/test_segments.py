"""When a log starts a new segment, and what its files are then."""

import struct

import pytest

from kafkish_protocol.records import Batch, assign_offset
from kafkish_storage.files.memory import MemoryFiles
from kafkish_storage.log import Log
from kafkish_storage.tests.conftest import OpenLog
from kafkish_storage.tests.making import batch, read_all

SIZE = batch(b"x").size_bytes


def append(log: Log, count: int, *, timestamp: int = 1000, now_ms: int = 1000) -> None:
    for _ in range(count):
        log.append_as_leader([batch(b"x", timestamp=timestamp)], 0, now_ms)


def bases(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.segments]


def test_a_segment_is_never_larger_than_its_setting(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=3 * SIZE)
    append(log, 7)
    assert bases(log) == [0, 3, 6]


def test_a_segment_is_rolled_when_its_first_batch_is_too_old(open_log: OpenLog) -> None:
    log = open_log(segment_ms=100)
    append(log, 1, timestamp=1000)
    append(log, 1, timestamp=1100)
    assert bases(log) == [0]
    append(log, 1, timestamp=1101)
    assert bases(log) == [0, 2]


def test_without_timestamps_a_segment_ages_by_the_clock(open_log: OpenLog) -> None:
    log = open_log(segment_ms=100)
    append(log, 1, timestamp=-1, now_ms=1000)
    append(log, 1, timestamp=-1, now_ms=1100)
    append(log, 1, timestamp=-1, now_ms=1101)
    assert bases(log) == [0, 2]


def test_jitter_spreads_the_rolls_of_many_logs(open_log: OpenLog) -> None:
    log = open_log(segment_ms=1000, segment_jitter_ms=900)
    jitters = set()
    for at in range(1, 9):
        append(log, 1, timestamp=at * 10_000)
        jitters.add(log.segments.active.jitter_ms)
    assert len(jitters) > 3
    assert all(0 <= one < 900 for one in jitters)


def test_a_segment_is_rolled_when_its_index_is_full(open_log: OpenLog) -> None:
    log = open_log(segment_index_bytes=24, index_interval_bytes=1)
    append(log, 10)
    assert len(log.segments) > 1
    assert all(segment.offset_index.count <= 3 for segment in log.segments)
    assert all(segment.time_index.count <= 2 for segment in log.segments)


def test_a_segment_is_rolled_before_an_offset_that_its_index_cannot_hold(open_log: OpenLog) -> None:
    log = open_log()
    append(log, 1)
    far = bytearray(batch(b"far").view)
    assign_offset(far, 0, 2**31 + 5, 0)
    log.append_as_follower([Batch(bytes(far))], 0, 1000)
    assert bases(log) == [0, 2**31 + 5]
    assert [one.base_offset for one in read_all(log)] == [0, 2**31 + 5]


def test_an_empty_segment_is_not_rolled(open_log: OpenLog) -> None:
    log = open_log()
    log.roll(1000)
    assert bases(log) == [0]


def test_an_active_index_is_preallocated_and_a_rolled_one_trimmed(open_log: OpenLog, disk: MemoryFiles) -> None:
    log = open_log(segment_index_bytes=1200, index_interval_bytes=1)
    append(log, 5)
    assert len(disk.contents()["/data/t-0/00000000000000000000.index"]) == 1200
    assert len(disk.contents()["/data/t-0/00000000000000000000.timeindex"]) == 1200
    log.roll(1000)
    entries = struct.iter_unpack(">ii", disk.contents()["/data/t-0/00000000000000000000.index"])
    assert list(entries) == [(offset, offset * SIZE) for offset in range(1, 5)]
    times = struct.iter_unpack(">qi", disk.contents()["/data/t-0/00000000000000000000.timeindex"])
    assert list(times) == [(1000, 0)]  # one entry for each new largest timestamp


def test_an_index_has_an_entry_for_every_interval_of_bytes(open_log: OpenLog) -> None:
    log = open_log(index_interval_bytes=4 * SIZE - 1)
    append(log, 20)
    assert [log.segments.active.offset_index.entry(slot)[0] for slot in range(4)] == [4, 8, 12, 16]


@pytest.mark.parametrize("was_clean", [True, False])
def test_a_preallocated_segment_ends_with_its_last_batch(open_log: OpenLog, disk: MemoryFiles, was_clean: bool) -> None:
    log = open_log(preallocate=True, segment_bytes=10 * SIZE)
    append(log, 3)
    assert len(disk.contents()["/data/t-0/00000000000000000000.log"]) == 10 * SIZE
    if was_clean:
        log.close()
    log = open_log(was_clean=was_clean, preallocate=True, segment_bytes=10 * SIZE)
    assert log.end_offset == 3
    assert len(disk.contents()["/data/t-0/00000000000000000000.log"]) == 3 * SIZE


def test_a_snapshot_of_producers_comes_with_every_new_segment(open_log: OpenLog, disk: MemoryFiles) -> None:
    log = open_log(segment_bytes=3 * SIZE)
    append(log, 7)
    assert {path for path in disk.contents() if path.endswith(".snapshot")} == {
        "/data/t-0/00000000000000000003.snapshot",
        "/data/t-0/00000000000000000006.snapshot",
    }
