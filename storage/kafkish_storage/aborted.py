"""The aborted transactions of a log, from its segments' indexes; or from its batches, where no index can be believed.

Apache Kafka makes no `.txnindex` for a segment without aborted transactions, so a missing file may be a lost one. A
segment's index is believed if `transaction-index-checkpoint` has its checksum. Any other is derived when it is first
asked for, from the latest snapshot of producers before it on, and vouched for by the next flush. That costs one pass
over the headers of a segment's batches, once: for a directory that Apache Kafka has written, or that was damaged.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

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
                one.transactions.replace(part.aborted)
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


class Part(NamedTuple):
    """What a scan has found in a segment. If it is not whole, what ends before the scan's start is missing."""

    base_offset: int
    aborted: list[AbortedTransaction]
    open_from: int
    is_whole: bool


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
        for base_offset, file, position, size_bytes in self._parts:
            aborted = []
            for at, header in walk(file, position, size_bytes):
                if header.has_producer_id:
                    ended = self._state.apply(read_batch(file, at, header) if header.is_control else header)
                    if ended is not None and ended.is_aborted:
                        aborted.append(AbortedTransaction.of(ended))
            open_from = self._state.first_open_offset
            is_whole = base_offset >= self._start_offset
            yield Part(base_offset, aborted, _NEVER if open_from is None else open_from, is_whole)


def _position_of(segment: Segment, offset: int) -> int:
    """Where the batches of a segment start that do not end before an offset."""
    if offset <= segment.base_offset:
        return 0
    found = segment.find(offset) if segment.size_bytes else None
    return found.position if found else segment.size_bytes
