"""Why a partition refuses: the code that goes into its part of a response."""

from collections.abc import Iterator
from contextlib import contextmanager

from kafkish_protocol.error_codes import ErrorCode
from kafkish_storage import errors as storage


class PartitionError(Exception):
    """A refusal that concerns one partition of a request, and no other."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(message or code.name)
        self.code = code
        self.message = message


_CODES: dict[type[storage.StorageError], ErrorCode] = {
    storage.OffsetOutOfRangeError: ErrorCode.OFFSET_OUT_OF_RANGE,
    storage.BatchTooLargeError: ErrorCode.RECORD_LIST_TOO_LARGE,
    storage.OutOfOrderSequenceError: ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    storage.InvalidProducerEpochError: ErrorCode.INVALID_PRODUCER_EPOCH,
    storage.InvalidTransactionError: ErrorCode.INVALID_TXN_STATE,
    storage.CoordinatorFencedError: ErrorCode.TRANSACTION_COORDINATOR_FENCED,
}


def from_storage(error: storage.StorageError) -> PartitionError:
    """What the storage room raised, as Kafka's clients know it. The disk's own troubles are all one code."""
    return PartitionError(_CODES.get(type(error), ErrorCode.KAFKA_STORAGE_ERROR), str(error))


@contextmanager
def storage_errors() -> Iterator[None]:
    """Raise what the storage room raises as a PartitionError."""
    try:
        yield
    except storage.StorageError as error:
        raise from_storage(error) from error
