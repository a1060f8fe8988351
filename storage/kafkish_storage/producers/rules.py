"""Whether a producer's batch may be appended. Pure: nothing here changes what is known of the producer.

* An exact repetition of one of the last five batches is a duplicate, and is answered as the first time.
* A lower epoch is of an instance that has been replaced.
* The first sequence follows the last one, and wraps; a new epoch starts at 0. A producer of which nothing is known,
  because its records were deleted, may start anywhere.
* A transactional batch is part of a transaction that is open here, or that the coordinator has just confirmed to be
  (KIP-890): the guard that was made when asking must be the one that is still waiting.
"""

from dataclasses import dataclass, field
from enum import Enum, auto

from kafkish_protocol.records import NO_PRODUCER_EPOCH, Batch
from kafkish_storage.errors import (
    CoordinatorFencedError,
    InvalidProducerEpochError,
    InvalidTransactionError,
    OutOfOrderSequenceError,
)
from kafkish_storage.producers.entry import ProducerEntry

_LAST_EPOCH = 2**15 - 1


class Origin(Enum):
    """Who appends."""

    CLIENT = auto()
    COORDINATOR = auto()  # markers and committed offsets; sequences are not counted
    REPLICATION = auto()  # a leader has checked it


class VerificationGuard:
    """A question to the coordinator. Two are the same only if they are one: an answer to an old question is void."""

    __slots__ = ()


@dataclass(slots=True)
class Verification:
    """What is remembered while the coordinator is asked whether a transaction is open."""

    epoch: int
    lowest_sequence: int
    supports_epoch_bump: bool
    started_ms: int
    guard: VerificationGuard = field(default_factory=VerificationGuard)

    def update(self, epoch: int, sequence: int) -> None:
        """A later batch that waits for the same answer."""
        if epoch == self.epoch:
            self.lowest_sequence = min(self.lowest_sequence, sequence)
        elif epoch > self.epoch:
            self.epoch = epoch
            self.lowest_sequence = sequence


def check_data(entry: ProducerEntry, batch: Batch, origin: Origin, verification: Verification | None) -> None:
    """Refuse a batch of records that does not continue the producer's last."""
    epoch = batch.producer_epoch
    if epoch < entry.epoch:
        raise InvalidProducerEpochError(entry.producer_id, epoch=epoch, current_epoch=entry.epoch)
    if origin is Origin.CLIENT:
        if verification is not None:
            _check_verified_sequence(entry, batch.base_sequence, verification)
        _check_sequence(entry, epoch, batch.base_sequence)
    if entry.has_open_transaction and not batch.is_transactional:
        raise InvalidTransactionError(entry.producer_id, "a batch outside of the producer's open transaction")


def _check_sequence(entry: ProducerEntry, epoch: int, sequence: int) -> None:
    if entry.epoch == NO_PRODUCER_EPOCH:
        return
    expected = entry.next_sequence if epoch == entry.epoch else 0
    if sequence != expected:
        raise OutOfOrderSequenceError(
            entry.producer_id,
            f"sequence {sequence} in epoch {epoch}, expected {expected}",
            sequence=sequence,
            expected_sequence=expected,
        )


def _check_verified_sequence(entry: ProducerEntry, sequence: int, verification: Verification) -> None:
    expected = verification.lowest_sequence
    if verification.supports_epoch_bump and not entry.batches:
        expected = 0
    if sequence > expected:
        reason = f"sequence {sequence} before {expected}, which waits for the same transaction"
        raise OutOfOrderSequenceError(entry.producer_id, reason, sequence=sequence, expected_sequence=expected)


def check_transaction(
    entry: ProducerEntry | None, batch: Batch, verification: Verification | None, guard: VerificationGuard | None
) -> None:
    """Refuse a transactional batch that starts a transaction which the coordinator does not know to be open."""
    if entry is not None and entry.has_open_transaction and entry.epoch == batch.producer_epoch:
        return
    if entry is not None and batch.producer_epoch < entry.epoch:
        raise InvalidProducerEpochError(batch.producer_id, epoch=batch.producer_epoch, current_epoch=entry.epoch)
    if verification is None or verification.guard is not guard:
        raise InvalidTransactionError(batch.producer_id, "the batch is not part of an open transaction")


def check_marker(entry: ProducerEntry, batch: Batch, coordinator_epoch: int, transaction_version: int) -> None:
    """Refuse a marker of a producer or a coordinator that has been replaced.

    From transaction version 2 on a marker has a higher epoch than its transaction's batches. One with the same epoch is
    let in where it can only be a marker that is sent again (KAFKA-19999).
    """
    epoch = batch.producer_epoch
    is_old = epoch < entry.epoch or (transaction_version >= 2 and epoch == entry.epoch)
    is_repeated = epoch == entry.epoch and (not entry.has_open_transaction or epoch == _LAST_EPOCH)
    if is_old and not is_repeated:
        raise InvalidProducerEpochError(entry.producer_id, epoch=epoch, current_epoch=entry.epoch)
    if coordinator_epoch < entry.coordinator_epoch:
        raise CoordinatorFencedError(
            entry.producer_id, coordinator_epoch=coordinator_epoch, current_epoch=entry.coordinator_epoch
        )
