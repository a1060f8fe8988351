"""Finding records by time, by leader and by transaction."""

import pytest

from kafkish_protocol.records import Batch, Compression, Record, build_batch
from kafkish_storage.log import Log
from kafkish_storage.producers import Origin
from kafkish_storage.tests.conftest import OpenLog
from kafkish_storage.tests.making import batch, marker, read_all

CODECS = list(Compression)


def with_times(*timestamps: int, codec: Compression = Compression.NONE) -> Batch:
    records = [Record(offset, timestamp, b"k", b"v") for offset, timestamp in enumerate(timestamps)]
    return Batch(bytes(build_batch(records, compression=codec)))


def found(log: Log, timestamp: int) -> tuple[int, int] | None:
    answer = log.offset_of_timestamp(timestamp)
    return (answer.timestamp, answer.offset) if answer else None


# -- by time


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_the_first_record_that_is_new_enough_is_found_within_its_batch(open_log: OpenLog, codec: Compression) -> None:
    log = open_log()
    log.append_as_leader([with_times(10, 20, 30, codec=codec)], 0, 1000)
    log.append_as_leader([with_times(25, 40, 35, codec=codec)], 0, 1000)
    assert [found(log, timestamp) for timestamp in (0, 11, 21, 31, 36, 41)] == [
        (10, 0), (20, 1), (30, 2), (40, 4), (40, 4), None,
    ]  # fmt: skip
    newest = log.largest_timestamp()
    assert newest is not None
    assert (newest.timestamp, newest.offset) == (40, 4)


def test_times_out_of_order_over_many_segments_are_found_as_by_reading(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=400, index_interval_bytes=1)
    times = [500, 100, 900, 300, 300, 800, 950, 200, 940, 960, 10, 970, 5]
    for timestamp in times:
        log.append_as_leader([with_times(timestamp)], 3, 1000)
    for asked in range(0, 1000, 5):
        expected = next(((time, offset) for offset, time in enumerate(times) if time >= asked), None)
        assert found(log, asked) == expected


def test_records_before_the_start_are_not_found_by_time(open_log: OpenLog) -> None:
    log = open_log()
    log.append_as_leader([with_times(90, 20, 30)], 0, 1000)
    log.update_high_watermark(3)
    log.advance_start(1)
    assert found(log, 0) == (20, 1)
    newest = log.largest_timestamp()
    assert newest is not None
    assert newest.offset == 2


def test_an_empty_log_and_one_without_times_answer_nothing(open_log: OpenLog) -> None:
    log = open_log()
    assert log.largest_timestamp() is None
    assert found(log, 0) is None
    log.append_as_leader([with_times(-1)], 0, 1000)
    assert log.largest_timestamp() is None
    assert found(log, 0) is None


def test_a_look_up_tells_the_leader_epoch(open_log: OpenLog) -> None:
    log = open_log()
    log.append_as_leader([with_times(10)], 3, 1000)
    log.append_as_leader([with_times(20)], 8, 1000)
    answer = log.offset_of_timestamp(15)
    assert answer is not None
    assert answer.leader_epoch == 8


# -- by leader


def test_the_end_of_an_epoch_is_where_the_next_one_starts(open_log: OpenLog) -> None:
    log = open_log()
    for epoch, count in ((1, 2), (4, 3), (9, 1)):
        for _ in range(count):
            log.append_as_leader([batch(b"x")], epoch, 1000)
    assert [log.end_of_epoch(epoch) for epoch in (-2, -1, 0, 1, 3, 4, 8, 9, 10)] == [
        (-2, 0), None, (0, 0), (1, 2), (1, 2), (4, 5), (4, 5), (9, 6), None,
    ]  # fmt: skip


def test_epochs_survive_a_restart_of_either_kind(open_log: OpenLog) -> None:
    log = open_log()
    for epoch in (1, 1, 4):
        log.append_as_leader([batch(b"x")], epoch, 1000)
    assert open_log().end_of_epoch(1) == (1, 2)
    log.close()
    assert open_log(was_clean=True).end_of_epoch(1) == (1, 2)


# -- by transaction


def begin(log: Log, producer_id: int, sequence: int) -> int:
    one = batch(b"x", producer_id=producer_id, epoch=0, sequence=sequence, transactional=True)
    guard = log.producers.start_verification(producer_id, sequence, 0, supports_epoch_bump=False, now_ms=1000)
    return log.append_as_leader([one], 0, 1000, guard=guard).first_offset


def end(log: Log, producer_id: int, *, commit: bool) -> None:
    log.append_as_leader([marker(commit, producer_id)], 0, 1000, origin=Origin.COORDINATOR)


def test_an_open_transaction_holds_back_the_last_stable_offset(open_log: OpenLog) -> None:
    log = open_log()
    begin(log, 1, 0)
    begin(log, 2, 0)
    log.update_high_watermark(2)
    assert log.last_stable_offset == 0
    end(log, 1, commit=True)
    assert log.last_stable_offset == 0  # the marker is not replicated yet
    log.update_high_watermark(3)
    assert log.last_stable_offset == 1
    end(log, 2, commit=False)
    log.update_high_watermark(4)
    assert log.last_stable_offset == 4


def test_a_reader_of_committed_records_is_told_which_transactions_were_aborted(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=250)
    for at, commit in enumerate((True, False, False)):
        begin(log, at, 0)
        begin(log, at, 1)
        end(log, at, commit=commit)
    log.update_high_watermark(log.end_offset)
    aborted = [(entry.producer_id, entry.first_offset, entry.last_offset) for entry in log.aborted_transactions(0, 9)]
    assert aborted == [(1, 3, 5), (2, 6, 8)]
    assert log.aborted_transactions(0, 3) == []
    assert [entry.producer_id for entry in log.aborted_transactions(6, 9)] == [2]
    told: set[int] = set()
    for one in read_all(log):
        read = log.read(one.base_offset, 1, with_aborted=True)
        told.update(entry.producer_id for entry in read.aborted)
    assert told == {1, 2}


@pytest.mark.parametrize("was_clean", [True, False])
def test_aborted_and_open_transactions_are_known_after_a_restart(open_log: OpenLog, was_clean: bool) -> None:
    log = open_log(segment_bytes=250)
    begin(log, 1, 0)
    end(log, 1, commit=False)
    begin(log, 2, 0)
    before = log.aborted_transactions(0, 10)
    if was_clean:
        log.close()
    log = open_log(segment_bytes=250, was_clean=was_clean)
    log.update_high_watermark(log.end_offset)
    assert log.aborted_transactions(0, 10) == before
    assert log.last_stable_offset == 2
