"""What compaction must know of transactions while it reads a log from its start."""

from collections import deque
from collections.abc import Iterable

from kafkish_protocol.records import Batch, BatchHeader, ControlType, read_control_type
from kafkish_storage.transaction_index import AbortedTransaction


class TransactionsSeen:
    """Tells aborted batches from committed ones, and which markers no batch needs any more."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._waiting = deque(sorted(aborted, key=lambda entry: entry.first_offset))
        self._aborted: dict[int, AbortedTransaction] = {}
        self._with_batches: set[int] = set()  # producers whose open transaction, of either end, has had a batch
        self.kept: list[AbortedTransaction] = []  # those whose marker must stay, to be indexed again

    def is_aborted(self, batch: BatchHeader) -> bool:
        """A batch of records: whether its transaction was aborted."""
        self._start_until(batch.last_offset)
        if not batch.is_transactional:
            return False
        self._with_batches.add(batch.producer_id)
        return batch.producer_id in self._aborted

    def is_needless(self, marker: Batch) -> bool:
        """A control batch: whether all batches of its transaction are gone."""
        self._start_until(marker.last_offset)
        record = next(marker.records(), None) if marker.count else None
        if record is None:
            return True  # compacted before
        kind = read_control_type(record)
        if kind not in (ControlType.ABORT, ControlType.COMMIT):
            return False
        aborted = self._aborted.pop(marker.producer_id, None)
        had_batches = marker.producer_id in self._with_batches
        self._with_batches.discard(marker.producer_id)
        if kind == ControlType.ABORT and aborted is not None and had_batches:
            self.kept.append(aborted)
        return not had_batches

    def _start_until(self, offset: int) -> None:
        while self._waiting and self._waiting[0].first_offset <= offset:
            entry = self._waiting.popleft()
            self._aborted.setdefault(entry.producer_id, entry)
