"""What may be found after a crash, and a check that it is what is found.

A model of a partition is the list of all batches that were ever given to it. After a crash the log must be a prefix of
that list, as long as what was durable, with no byte changed; a compacted log may lack records, but no last value of a
key; and every question to it must be answered as reading all of it answers.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from kafkish_protocol.records import Batch, Record
from kafkish_storage.log import Log
from kafkish_storage.tests.making import aborted_offsets, aborted_offsets_by_index, read_all, records_of


@dataclass
class Model:
    """A partition. While it is being cut, it may be found before or after: `other` is the one that it may be, too."""

    is_compacted: bool
    batches: list[Batch] = field(default_factory=list)
    durable_offset: int = 0
    start_offset: int = 0
    durable_start: int = 0
    other: list[Batch] | None = None

    @property
    def end_offset(self) -> int:
        return self.batches[-1].next_offset if self.batches else 0

    def check(self, log: Log, dice: Random) -> None:
        """Whether a log that was found after a crash may be this one."""
        assert log.end_offset >= self.durable_offset, f"ends at {log.end_offset}, durable was {self.durable_offset}"
        starts = f"{self.durable_start} up to {self.start_offset}"
        assert self.durable_start <= log.start_offset <= self.start_offset, (
            f"starts at {log.start_offset}, not {starts}"
        )
        found = read_all(log)
        end_offset = found[-1].next_offset if found else log.start_offset
        assert log.end_offset == end_offset, f"says it ends at {log.end_offset}, and does at {end_offset}"
        assert all(one.crc_is_valid() for one in found)
        if self.is_compacted:
            self._check_compacted(log, found)
        else:
            self._check_prefix(log, found)
            _check_epochs(log, found)
        _check_answers(log, found, dice)
        written = [one for one in self.batches if one.next_offset <= log.end_offset]
        _check_producers(log, written if self.is_compacted else found)  # of which compaction leaves less than is known

    def _check_prefix(self, log: Log, found: list[Batch]) -> None:
        candidates = [self.batches] if self.other is None else [self.batches, self.other]
        ends = []
        for candidate in candidates:
            expected = [
                one for one in candidate if one.last_offset >= log.start_offset and one.last_offset < log.end_offset
            ]
            if [bytes(one.view) for one in expected] == [bytes(one.view) for one in found]:
                return
            ends.append([one.base_offset for one in expected])
        raise AssertionError(f"not a prefix: {[one.base_offset for one in found]}, expected one of {ends}")

    def _check_compacted(self, log: Log, found: list[Batch]) -> None:
        """The last record of each key is there; what is there was written; no deleted key has come back."""
        aborted = aborted_offsets(self.batches)
        data = [one for one in self.batches if not one.is_control and one.base_offset not in aborted]
        written = {record.offset: record for record in records_of(self.batches)}
        last: dict[bytes | None, Record] = {
            record.key: record for record in records_of(data) if log.start_offset <= record.offset < log.end_offset
        }
        there: dict[bytes | None, list[Record]] = {}
        for record in records_of(found):
            if record.offset < log.start_offset:
                continue
            assert record == written[record.offset], f"{record} was written as {written[record.offset]}"
            there.setdefault(record.key, []).append(record)
        for key, record in last.items():
            kept = [one for one in there.get(key, []) if one.offset <= record.offset]
            if record.value is not None:
                assert record in kept, f"{record} is missing"
            else:
                assert not kept or kept[-1] == record, f"{key!r} was deleted and has come back: {kept}"


def _check_answers(log: Log, found: list[Batch], dice: Random) -> None:
    """Look-ups by offset and time, and aborted transactions, against a scan."""
    if not found:
        return
    for _ in range(4):
        offset = dice.randrange(log.start_offset, log.end_offset + 1)
        expected = next((one for one in found if one.last_offset >= offset), None)
        answer = log.read(offset, 1)
        there = (answer.base_offset if answer.records else None, expected.base_offset if expected else None)
        assert there[0] == there[1], f"offset {offset} is in batch {there[1]}, read {there[0]}"
    records = [record for one in found for record in one.records() if record.offset >= log.start_offset]
    for _ in range(2):
        timestamp = dice.choice(records).timestamp + dice.randrange(-1, 2) if records else 0
        first = next((record.offset for record in records if record.timestamp >= timestamp), None)
        by_time = log.offset_of_timestamp(timestamp)
        assert (by_time.offset if by_time else None) == first, f"time {timestamp} is at {first}, found {by_time}"
    newest = log.largest_timestamp()
    if records:
        expected_newest = max(records, key=lambda record: record.timestamp)
        assert newest is not None
        expected_pair = (expected_newest.timestamp, expected_newest.offset)
        assert (newest.timestamp, newest.offset) == expected_pair, f"newest is {expected_newest}, found {newest}"
    indexed, aborted = aborted_offsets_by_index(log, found), aborted_offsets(found)
    assert indexed == aborted, f"aborted are {aborted}, by the index {indexed}"


def _check_epochs(log: Log, found: list[Batch]) -> None:
    """Each batch is known to be of its epoch, and each epoch to end where the next one's batches start."""
    where = f"leader epochs {log.epochs.entries}, log {log.start_offset}-{log.end_offset}"
    for one in found:
        for offset in (max(one.base_offset, log.start_offset), one.last_offset):
            assert log.epochs.epoch_of(offset) == one.leader_epoch, f"{where}: {offset} is of {one.leader_epoch}"
    for one, following in pairwise(found):
        if one.leader_epoch != following.leader_epoch:
            end = log.end_of_epoch(one.leader_epoch)
            assert end == (one.leader_epoch, following.base_offset), f"{where}: {one.leader_epoch} ends with {end}"


def _check_producers(log: Log, found: list[Batch]) -> None:
    """A repetition of a producer's last batch is known to be one; open transactions are known to be open."""
    last: dict[int, Batch] = {}
    open_since: dict[int, int] = {}
    for one in found:
        if one.has_producer_id and not one.is_control:
            last[one.producer_id] = one
            if one.is_transactional:
                open_since.setdefault(one.producer_id, one.base_offset)
        elif one.is_control:
            open_since.pop(one.producer_id, None)
            if one.count and one.producer_epoch != last.get(one.producer_id, one).producer_epoch:
                last.pop(one.producer_id, None)
    for producer_id, one in last.items():
        duplicate = log.producers.find_duplicate(one)
        assert duplicate is not None, f"producer {producer_id}'s batch at {one.base_offset} is not known"
        assert duplicate.last_offset == one.last_offset
    known = {key for key, entry in log.producers.producers.items() if entry.has_open_transaction}
    assert known >= set(open_since), f"open transactions of {known}, expected {set(open_since)}"
