"""The aborted transactions of a log, from its segments' indexes; or from its batches, where no index can be believed.

Apache Kafka makes no `.txnindex` for a segment without aborted transactions, so a missing file may be a lost one. A
segment's index is believed if `transaction-index-checkpoint` has its checksum. Any other is derived when it is first
asked for, from the latest snapshot of producers before it on, and vouched for by the next flush. That costs one pass
over the headers of a segment's batches, once: for a directory that Apache Kafka has written, or that was damaged.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from kafkish_protocol.records import Batch, ControlType, read_control_type
from kafkish_storage.files import File
from kafkish_storage.home import Home
from kafkish_storage.producers import ProducerState
from kafkish_storage.producers.snapshot import parse
from kafkish_storage.replay import Replayed
from kafkish_storage.scan import read_batch, walk
from kafkish_storage.segment import Segment
from kafkish_storage.transaction_checkpoint import read_transaction_checkpoint
from kafkish_storage.transaction_index import AbortedTransaction

if TYPE_CHECKING:
    from kafkish_storage.log import Log

_NEVER: Final = 2**63


def aborted_between(log: "Log", start_offset: int, upper_offset: int) -> list[AbortedTransaction]:
    """Those that have records in a range."""
    found: list[AbortedTransaction] = []
    for segment in log.segments.holding(start_offset, 2**63):
        for entry in aborted_of(log, segment):
            if entry.last_offset >= start_offset and entry.first_offset < upper_offset:
                found.append(entry)
            if entry.last_stable_offset >= upper_offset:
                return found
        if segment.transactions.settled_below >= upper_offset:
            break
    return found


def aborted_of(log: "Log", segment: Segment) -> Sequence[AbortedTransaction]:
    """Those that end in a segment. Owner's thread."""
    known = _known(log, segment)
    if known is None:
        for part in TransactionScan(log, segment.base_offset, segment.base_offset + 1).run():
            one = log.segments.floor(part.base_offset)
            following = log.segments.after(one)
            if part.is_whole and one.transactions.known() is None:
                there = one.transactions.read()
                is_right = log.config.compact and part.is_told_by(there)
                one.transactions.replace(there if is_right else part.aborted)
            if following is not None:
                one.transactions.settled_below = min(part.open_from, following.base_offset)
        log.transactions_changed = True
        known = segment.transactions.known()
        assert known is not None
    return known


def are_known(log: "Log") -> bool:
    return all(_known(log, segment) is not None for segment in log.segments)


def checksums(log: "Log") -> dict[int, int]:
    """What to vouch for."""
    _believe_checkpoint(log)
    found = ((segment.base_offset, segment.transactions.current_checksum()) for segment in log.segments)
    return {base_offset: checksum for base_offset, checksum in found if checksum is not None}


def _known(log: "Log", segment: Segment) -> list[AbortedTransaction] | None:
    _believe_checkpoint(log)
    return segment.transactions.known()


def _believe_checkpoint(log: "Log") -> None:
    """Read the checkpoint, when it is first needed."""
    if not log.has_read_checksums:
        log.has_read_checksums = True
        vouched = read_transaction_checkpoint(log.home.files, log.home.path)
        for segment in log.segments:
            if segment.transactions.current_checksum() is None:
                segment.transactions.checksum = vouched.get(segment.base_offset)


class Scanned(Replayed, Protocol):
    """A log with its directory."""

    home: Home


class Ending(NamedTuple):
    """A marker that aborts a transaction, and from where on that may be said to start: all between is others'.

    It is needed if records of the transaction are left; if no batch is, it is said to start where it ends.
    """

    entry: AbortedTransaction
    lowest_first_offset: int
    is_needed: bool

    def fits(self, entry: AbortedTransaction) -> bool:
        """Whether an entry of an index tells readers the same."""
        starts_rightly = self.lowest_first_offset <= entry.first_offset <= self.entry.first_offset
        return starts_rightly and entry.last_stable_offset <= self.entry.last_stable_offset


class Part(NamedTuple):
    """What a scan has found in a segment. If it is not whole, what ends before the scan's start is missing."""

    base_offset: int
    endings: dict[tuple[int, int], Ending]  # by producer id and offset
    open_from: int
    is_whole: bool

    @property
    def aborted(self) -> list[AbortedTransaction]:
        entries = (ending.entry for ending in self.endings.values())
        return [entry for entry in entries if entry.first_offset < entry.last_offset]

    def is_told_by(self, entries: Sequence[AbortedTransaction]) -> bool:
        """Whether an index is right, though Kafka's compaction leaves more in it than the log can tell."""
        told = {(entry.producer_id, entry.last_offset): entry for entry in entries}
        needed = [key for key, ending in self.endings.items() if ending.is_needed]
        is_true = all(key in self.endings and self.endings[key].fits(entry) for key, entry in told.items())
        return is_true and len(told) == len(entries) and all(key in told for key in needed)


class TransactionScan:
    """Finds the aborted transactions of a range of segments: made on the owner's thread, run on any."""

    def __init__(self, log: Scanned, start_offset: int, end_offset: int) -> None:
        self._state = ProducerState(log.producers.config)
        self._start_offset = self._load(log, start_offset)
        self._parts: list[tuple[int, File, int, int]] = []
        for segment in log.segments.holding(self._start_offset, end_offset):
            position = _position_of(segment, self._start_offset)
            self._parts.append((segment.base_offset, segment.file, position, segment.size_bytes))

    def _load(self, log: Scanned, offset: int) -> int:
        """Know the producers as of the latest good snapshot up to an offset; where the log starts, know none."""
        for taken in reversed(log.snapshots.offsets):
            entries = parse(log.home.files.read(log.snapshots.path(taken)) or b"") if taken <= offset else None
            if entries is not None:
                self._state.reset(taken, entries)
                return taken
        return min(offset, log.segments.first.base_offset)

    def run(self) -> Iterator[Part]:
        for part in self._parts:
            yield self._scan(*part)

    def _scan(self, base_offset: int, file: File, position: int, size_bytes: int) -> Part:
        state = self._state
        lowest = {producer_id: first_offset for first_offset, producer_id in state.open_transactions.items()}
        with_records = set(lowest)
        endings: dict[tuple[int, int], Ending] = {}
        for at, header in walk(file, position, size_bytes):
            producer_id = header.producer_id
            if not header.has_producer_id:
                continue
            if not header.is_control:
                state.apply(header)
                if header.is_transactional and header.count:
                    with_records.add(producer_id)
            elif header.count:
                marker = read_batch(file, at, header)
                ended = state.apply(marker)
                if read_control_type(next(marker.records())) == ControlType.ABORT:
                    entry = AbortedTransaction.of(ended) if ended else self._empty(marker)
                    lowest_offset = lowest.get(producer_id, base_offset)
                    endings[producer_id, entry.last_offset] = Ending(entry, lowest_offset, producer_id in with_records)
                lowest[producer_id] = header.next_offset
                with_records.discard(producer_id)
        open_from = next(iter(state.open_transactions), _NEVER)
        return Part(base_offset, endings, open_from, base_offset >= self._start_offset)

    def _empty(self, marker: Batch) -> AbortedTransaction:
        """Of a transaction of which nothing else is left."""
        offset = marker.base_offset
        stable_offset = next(iter(self._state.open_transactions), offset + 1)
        return AbortedTransaction(marker.producer_id, offset, offset, stable_offset)


def _position_of(segment: Segment, offset: int) -> int:
    """Where the batches of a segment start that do not end before an offset."""
    if offset <= segment.base_offset:
        return 0
    found = segment.find(offset) if segment.size_bytes else None
    return found[0] if found else segment.size_bytes
