"""Appending to a log, reading it, cutting it."""

import pytest

from kafkish_protocol.records import Batch, assign_offset
from kafkish_storage.errors import BatchTooLargeError, DiskFullError, OffsetOutOfRangeError, UnexpectedOffsetError
from kafkish_storage.files.memory import MemoryFiles
from kafkish_storage.log import Log
from kafkish_storage.tests.conftest import OpenLog
from kafkish_storage.tests.making import batch, flush, read_all, records_of, whole_batches


def fill(log: Log, count: int, *, per_batch: int = 1, epoch: int = 0) -> None:
    for at in range(count):
        log.append_as_leader([batch(*[b"%d" % at] * per_batch, timestamp=1000 + at)], epoch, 1000)
    log.update_high_watermark(log.end_offset)


def numbered(offset: int, value: bytes = b"x", epoch: int = 0) -> Batch:
    data = bytearray(batch(value).view)
    assign_offset(data, 0, offset, epoch)
    return Batch(bytes(data))


def offsets_of(log: Log) -> list[int]:
    return [record.offset for record in records_of(read_all(log))]


# -- appending


def test_a_batch_gets_the_next_offsets_and_the_leader_epoch_and_keeps_its_checksum(open_log: OpenLog) -> None:
    log = open_log()
    log.append_as_leader([batch(b"a", b"b"), batch(b"c")], 5, 1000)
    first, second = read_all(log)
    assert [(one.base_offset, one.last_offset, one.leader_epoch) for one in (first, second)] == [(0, 1, 5), (2, 2, 5)]
    assert first.crc_is_valid()
    assert second.crc_is_valid()


def test_log_append_time_is_stamped_and_told(open_log: OpenLog) -> None:
    log = open_log(message_timestamp_type="LogAppendTime")
    assert log.append_as_leader([batch(b"a", timestamp=5)], 0, 7777).log_append_time_ms == 7777
    assert [record.timestamp for record in records_of(read_all(log))] == [7777]


def test_what_does_not_fit_into_a_segment_is_refused_whole(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=500)
    with pytest.raises(BatchTooLargeError, match="a segment has 500"):
        log.append_as_leader([batch(b"x" * 200), batch(b"x" * 300)], 0, 1000)
    assert log.end_offset == 0
    assert read_all(log) == []


def test_a_disk_that_fills_up_within_a_batch_keeps_none_of_it(open_log: OpenLog, disk: MemoryFiles) -> None:
    log = open_log()
    fill(log, 3)
    disk.capacity_bytes = sum(map(len, disk.contents().values())) + 30
    with pytest.raises(DiskFullError, match="no space is left"):
        log.append_as_leader([batch(b"lost")], 0, 1000)
    assert offsets_of(log) == [0, 1, 2]
    disk.capacity_bytes = None
    assert log.append_as_leader([batch(b"kept")], 0, 1000).first_offset == 3


def test_a_follower_keeps_its_leaders_offsets_and_gaps(open_log: OpenLog) -> None:
    log = open_log()
    log.append_as_follower([numbered(0), numbered(5), numbered(6)], 0, 1000)
    assert offsets_of(log) == [0, 5, 6]
    assert log.read(2, 1).base_offset == 5
    assert log.end_offset == 7


def test_a_follower_leaves_out_batches_of_a_leader_that_it_does_not_know(open_log: OpenLog) -> None:
    log = open_log()
    log.append_as_follower([numbered(0, epoch=1), numbered(1, epoch=2)], 1, 1000)
    assert offsets_of(log) == [0]
    assert log.append_as_follower([numbered(1, epoch=2)], 1, 1000) is None


def test_a_follower_is_not_given_what_it_has(open_log: OpenLog) -> None:
    log = open_log()
    fill(log, 3)
    with pytest.raises(UnexpectedOffsetError, match="offset 2 was to be appended to a log that ends at 3"):
        log.append_as_follower([numbered(2)], 0, 1000)


# -- reading


def test_an_offset_within_a_batch_reads_the_whole_batch(open_log: OpenLog) -> None:
    log = open_log()
    fill(log, 3, per_batch=4)
    assert log.read(6, 1).base_offset == 4


def test_a_first_batch_larger_than_the_limit_is_whole_or_nothing(open_log: OpenLog) -> None:
    log = open_log()
    fill(log, 3)
    found = log.read(1, 10).records
    assert found is not None
    assert [one.base_offset for one in whole_batches(found.read())] == [1]
    assert log.read(1, 10, at_least_one=False).records is None


def test_nothing_is_read_at_or_above_the_upper_offset(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=300)
    fill(log, 9)
    for upper in range(10):
        found: list[int] = []
        while len(found) < upper and (records := log.read(len(found), 1 << 20, upper_offset=upper).records):
            found += [one.base_offset for one in whole_batches(records.read())]
        assert found == list(range(upper))
    assert log.read(9, 100).records is None


@pytest.mark.parametrize("offset", [-1, 1, 10])
def test_an_offset_outside_of_the_log_is_refused(open_log: OpenLog, offset: int) -> None:
    log = open_log()
    fill(log, 9)
    log.advance_start(2)
    with pytest.raises(OffsetOutOfRangeError, match=f"offset {offset} is not in the log, which has 2 up to 9"):
        log.read(offset, 100)


def test_a_slice_can_be_read_after_its_segment_is_deleted(open_log: OpenLog, disk: MemoryFiles) -> None:
    log = open_log(segment_bytes=300)
    fill(log, 9)
    records = log.read(0, 1 << 20).records
    assert records is not None
    before = records.read()
    log.truncate_fully(100, 1000)
    for _, path in log.garbage:
        disk.remove(path)
    assert records.read() == before


# -- cutting


@pytest.mark.parametrize("offset", range(10))
def test_a_cut_log_ends_where_it_was_cut_and_goes_on_there(open_log: OpenLog, offset: int) -> None:
    log = open_log(segment_bytes=300, index_interval_bytes=50)
    fill(log, 10)
    assert log.truncate_to(offset, 1000)
    assert offsets_of(log) == list(range(offset))
    assert log.append_as_leader([batch(b"new")], 1, 1000).first_offset == offset
    assert offsets_of(log) == list(range(offset + 1))
    assert log.end_of_epoch(0) == ((0, offset) if offset else (0, 0))
    assert offsets_of(open_log(segment_bytes=300)) == list(range(offset + 1))


def test_a_batch_that_holds_the_cut_goes_whole(open_log: OpenLog) -> None:
    log = open_log()
    fill(log, 3, per_batch=4)
    log.truncate_to(6, 1000)
    assert log.end_offset == 4


def test_cutting_at_the_end_changes_nothing(open_log: OpenLog) -> None:
    log = open_log()
    fill(log, 3)
    assert not log.truncate_to(3, 1000)
    assert offsets_of(log) == [0, 1, 2]


def test_a_log_that_starts_anew_has_nothing_of_the_old_one(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=300)
    fill(log, 10, epoch=3)
    flush(log)
    log.truncate_fully(500, 1000)
    assert (log.start_offset, log.end_offset, log.high_watermark, log.recovery_point) == (500, 500, 500, 0)
    assert log.end_of_epoch(3) is None
    log.append_as_leader([batch(b"new")], 4, 1000)
    assert offsets_of(open_log(segment_bytes=300)) == [500]


# -- offsets


def test_the_high_watermark_stays_within_the_log(open_log: OpenLog) -> None:
    log = open_log()
    fill(log, 5)
    assert log.update_high_watermark(100) == 5
    log.advance_start(3)
    assert log.update_high_watermark(0) == 3


def test_the_start_does_not_pass_the_high_watermark_nor_go_back(open_log: OpenLog) -> None:
    log = open_log()
    fill(log, 5)
    log.update_high_watermark(3)
    with pytest.raises(OffsetOutOfRangeError):
        log.advance_start(4)
    assert log.advance_start(2)
    assert not log.advance_start(1)
    assert log.start_offset == 2
