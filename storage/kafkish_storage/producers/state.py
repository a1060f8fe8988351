"""All producers of a log, and its open transactions. Owner's thread.

`check` judges a batch before it is written, `apply` takes it in once it is. `end_offset` is the offset up to which the
log's batches have been applied, which names the next snapshot.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from kafkish_protocol.records import Batch, BatchHeader, ControlType, read_control_type, read_coordinator_epoch
from kafkish_protocol.records.batch import CONTROL_BIT, TRANSACTIONAL_BIT
from kafkish_storage.config import ProducerConfig
from kafkish_storage.errors import InvalidProducerEpochError
from kafkish_storage.producers.entry import NO_OFFSET, BatchMetadata, ProducerEntry
from kafkish_storage.producers.rules import (
    Origin,
    Verification,
    VerificationGuard,
    check_data,
    check_marker,
    check_transaction,
)

_LATE_MS: Final = 5 * 60 * 1000


class CompletedTransaction(NamedTuple):
    """A transaction that a marker has ended."""

    producer_id: int
    first_offset: int
    last_offset: int
    is_aborted: bool
    last_stable_offset: int


class ProducerState:
    """Producers by id."""

    __slots__ = ("_ended", "_verifications", "config", "end_offset", "open_transactions", "producers")

    def __init__(self, config: ProducerConfig) -> None:
        self.config = config
        self.producers: dict[int, ProducerEntry] = {}
        self.end_offset = 0
        self.open_transactions: dict[int, int] = {}  # first offset to producer id, in the order of offsets
        self._ended: dict[int, int] = {}  # first offset to the marker's, of markers above the high watermark
        self._verifications: dict[int, Verification] = {}

    # -- judging

    def continues(self, batch: BatchHeader) -> bool:
        """Whether a batch plainly follows the last one of its producer, so that there is nothing more to check."""
        entry = self.producers.get(batch.producer_id)
        return (
            entry is not None
            and batch.base_sequence == entry.next_sequence
            and batch.producer_epoch == entry.epoch
            and not batch.attributes & (TRANSACTIONAL_BIT | CONTROL_BIT)
            and entry.transaction_first_offset == NO_OFFSET
            and not self._verifications
        )

    def find_duplicate(self, batch: Batch) -> BatchMetadata | None:
        """What was appended when the batch was first sent."""
        entry = self.producers.get(batch.producer_id)
        if entry is None:
            return None
        return entry.find_duplicate(batch.producer_epoch, batch.base_sequence, batch.last_sequence)

    def check(
        self, batch: Batch, origin: Origin, *, guard: VerificationGuard | None = None, transaction_version: int = 0
    ) -> None:
        """Refuse a batch with a producer id that does not continue what is known. For leaders."""
        entry = self.producers.get(batch.producer_id)
        verification = self._verifications.get(batch.producer_id)
        if batch.is_control:
            known = entry or ProducerEntry(batch.producer_id)
            check_marker(known, batch, read_coordinator_epoch(batch), transaction_version)
            return
        if batch.is_transactional and self.config.transaction_partition_verification_enable:
            check_transaction(entry, batch, verification, guard)
        if entry is not None or verification is not None:
            check_data(entry or ProducerEntry(batch.producer_id), batch, origin, verification)

    def start_verification(
        self, producer_id: int, sequence: int, epoch: int, *, supports_epoch_bump: bool, now_ms: int
    ) -> VerificationGuard | None:
        """The guard to keep while the coordinator is asked; None if the transaction is open and needs no asking."""
        entry = self.producers.get(producer_id)
        if entry is not None and epoch < entry.epoch:
            raise InvalidProducerEpochError(producer_id, epoch=epoch, current_epoch=entry.epoch)
        if entry is not None and entry.has_open_transaction and entry.epoch == epoch:
            return None
        verification = self._verifications.get(producer_id)
        if verification is None:
            verification = Verification(epoch, sequence, supports_epoch_bump, now_ms)
            self._verifications[producer_id] = verification
        verification.update(epoch, sequence)
        return verification.guard

    def rehearsal(self, batches: Iterable[Batch]) -> "ProducerState":
        """A copy of what is known of the batches' producers, to check them one after the other."""
        twin = ProducerState(self.config)
        known = [self.producers.get(producer_id) for producer_id in {batch.producer_id for batch in batches}]
        twin.reset(self.end_offset, [entry.copy() for entry in known if entry is not None])
        twin._verifications = dict(self._verifications)
        return twin

    # -- taking in

    def apply(self, batch: BatchHeader) -> CompletedTransaction | None:
        """Take in a batch with a producer id that is in the log; return the transaction that it ends, if it does.

        A header is enough, but of a control batch.
        """
        attributes, delta = batch.attributes, batch.last_offset_delta
        if attributes & CONTROL_BIT and batch.count == 0:
            return None  # all of the transaction has been compacted away
        entry = self.producers.get(batch.producer_id)
        if entry is None:
            entry = self.producers[batch.producer_id] = ProducerEntry(batch.producer_id)
        if attributes & CONTROL_BIT:
            assert isinstance(batch, Batch)
            return self._apply_marker(entry, batch)
        metadata = BatchMetadata(batch.last_sequence, batch.base_offset + delta, delta, batch.max_timestamp)
        entry.add(batch.producer_epoch, metadata)
        if attributes & TRANSACTIONAL_BIT:
            self._verifications.pop(batch.producer_id, None)
            if not entry.has_open_transaction:
                entry.transaction_first_offset = batch.base_offset
                self.open_transactions[batch.base_offset] = batch.producer_id
        return None

    def _apply_marker(self, entry: ProducerEntry, batch: Batch) -> CompletedTransaction | None:
        record = next(batch.records())
        kind = read_control_type(record)
        if kind not in (ControlType.ABORT, ControlType.COMMIT):
            return None
        self._end_verification(batch)
        first_offset = entry.transaction_first_offset
        entry.set_epoch(batch.producer_epoch)
        entry.coordinator_epoch = read_coordinator_epoch(batch)
        entry.last_timestamp = record.timestamp
        entry.transaction_first_offset = NO_OFFSET
        if first_offset == NO_OFFSET:
            return None
        self.open_transactions.pop(first_offset, None)
        self._ended[first_offset] = batch.base_offset
        stable_offset = next(iter(self.open_transactions), batch.base_offset + 1)
        is_aborted = kind == ControlType.ABORT
        return CompletedTransaction(batch.producer_id, first_offset, batch.base_offset, is_aborted, stable_offset)

    def _end_verification(self, batch: Batch) -> None:
        """A marker voids what was asked before it; but with epochs that are bumped, not what was asked for its own."""
        waiting = self._verifications.get(batch.producer_id)
        if waiting is not None and not (waiting.supports_epoch_bump and waiting.epoch == batch.producer_epoch):
            del self._verifications[batch.producer_id]

    # -- transactions

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the first transaction starts that is open, or whose end is not replicated yet."""
        if not self.open_transactions:
            return next(iter(self._ended), None) if self._ended else None
        first = next(iter(self.open_transactions))
        return min(first, *self._ended) if self._ended else first

    def replicated_to(self, offset: int) -> None:
        """Markers below the offset can no longer be lost: their transactions are over."""
        if self._ended:
            self._ended = {first: last for first, last in self._ended.items() if last >= offset}

    def has_late_transaction(self, now_ms: int) -> bool:
        """Whether the oldest open transaction should have ended long ago."""
        if not self.open_transactions:
            return False
        entry = self.producers.get(next(iter(self.open_transactions.values())))
        late_ms = self.config.transaction_max_timeout_ms + _LATE_MS
        return entry is not None and entry.last_timestamp > 0 and now_ms - entry.last_timestamp > late_ms

    # -- forgetting and loading

    def is_expired(self, entry: ProducerEntry, now_ms: int) -> bool:
        idle_ms = now_ms - entry.last_timestamp
        return not entry.has_open_transaction and idle_ms >= self.config.producer_id_expiration_ms

    def remove_expired(self, now_ms: int) -> None:
        """Forget producers that have been silent for long."""
        self.producers = {key: entry for key, entry in self.producers.items() if not self.is_expired(entry, now_ms)}
        limit_ms = self.config.producer_id_expiration_ms
        waiting = self._verifications.items()
        self._verifications = {key: value for key, value in waiting if now_ms - value.started_ms < limit_ms}

    def reset(self, end_offset: int, entries: Iterable[ProducerEntry] = ()) -> None:
        """Know these producers and nothing else, as of an offset."""
        self.producers = {entry.producer_id: entry for entry in entries}
        self.end_offset = end_offset
        opened = [entry for entry in self.producers.values() if entry.has_open_transaction]
        opened.sort(key=lambda entry: entry.transaction_first_offset)
        self.open_transactions = {entry.transaction_first_offset: entry.producer_id for entry in opened}
        self._ended = {}
