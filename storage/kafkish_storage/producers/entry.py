"""One producer, as one log knows it."""

from collections import deque
from typing import Final, NamedTuple

from kafkish_protocol.records import NO_PRODUCER_EPOCH, NO_SEQUENCE, NO_TIMESTAMP

REMEMBERED_BATCHES: Final = 5  # as many as a producer may have in flight
NO_OFFSET: Final = -1
SEQUENCE_MASK: Final = 0x7FFFFFFF  # sequences wrap from 2**31 - 1 to 0


class BatchMetadata(NamedTuple):
    """A batch that was appended, to answer for it again if it is sent again."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        return (self.last_sequence - self.offset_delta) & SEQUENCE_MASK

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


class ProducerEntry:
    """A producer's epoch, its last batches, and where its open transaction starts."""

    __slots__ = (
        "batches",
        "coordinator_epoch",
        "epoch",
        "last_timestamp",
        "next_sequence",
        "producer_id",
        "transaction_first_offset",
    )

    def __init__(
        self,
        producer_id: int,
        epoch: int = NO_PRODUCER_EPOCH,
        coordinator_epoch: int = -1,
        last_timestamp: int = NO_TIMESTAMP,
        transaction_first_offset: int = NO_OFFSET,
    ) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.coordinator_epoch = coordinator_epoch
        self.last_timestamp = last_timestamp
        self.transaction_first_offset = transaction_first_offset
        self.batches: deque[BatchMetadata] = deque(maxlen=REMEMBERED_BATCHES)
        self.next_sequence = 0

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_data_offset(self) -> int:
        return self.batches[-1].last_offset if self.batches else NO_OFFSET

    @property
    def has_open_transaction(self) -> bool:
        return self.transaction_first_offset != NO_OFFSET

    def find_duplicate(self, epoch: int, first_sequence: int, last_sequence: int) -> BatchMetadata | None:
        """The remembered batch with exactly these sequences."""
        if epoch != self.epoch:
            return None
        for batch in reversed(self.batches):
            if batch.last_sequence == last_sequence and batch.first_sequence == first_sequence:
                return batch
        return None

    def add(self, epoch: int, batch: BatchMetadata) -> None:
        """Remember a batch that was appended."""
        if epoch != self.epoch:
            self.set_epoch(epoch)
        self.batches.append(batch)
        self.next_sequence = (batch.last_sequence + 1) & SEQUENCE_MASK
        self.last_timestamp = batch.timestamp

    def set_epoch(self, epoch: int) -> None:
        """A new epoch starts with no batches."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches.clear()
            self.next_sequence = 0

    def copy(self) -> "ProducerEntry":
        twin = ProducerEntry(
            self.producer_id, self.epoch, self.coordinator_epoch, self.last_timestamp, self.transaction_first_offset
        )
        twin.batches.extend(self.batches)
        twin.next_sequence = self.next_sequence
        return twin
