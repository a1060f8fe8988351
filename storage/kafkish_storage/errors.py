"""What this room raises. Each error is one answer of the broker's: nobody needs to read its text."""


class StorageError(Exception):
    """The root of all errors of this room."""


# -- the disk


class OfflineError(StorageError):
    """The directory failed before and stays offline until the process starts again (KAFKA_STORAGE_ERROR)."""


class DiskFullError(StorageError):
    """No space is left. Nothing was appended; it works again when there is space (KAFKA_STORAGE_ERROR)."""


class CorruptLogError(StorageError):
    """Bytes that were durable are not what was written (KAFKA_STORAGE_ERROR).

    Never mended here: a replica is better fetched again from its leader than cut short in silence.
    """

    def __init__(self, path: str, position: int, reason: str) -> None:
        self.path = path
        self.position = position
        self.reason = reason
        super().__init__(
            f"{path} is damaged at byte {position}: {reason}. Restore the file from a backup, or move the partition's "
            f"directory away so that it is replicated again"
        )


class CorruptFileError(StorageError):
    """A small file that cannot be derived from the log is not readable as what it should be."""

    def __init__(self, path: str, reason: str, remedy: str) -> None:
        self.path = path
        super().__init__(f"{path}: {reason}. {remedy}")


# -- the directory


class DirectoryError(StorageError):
    """A data directory cannot be used as it is; the text says what to do."""


class UnwritableDirectoryError(DirectoryError):
    """Nothing can be written to the directory. Others may work."""


class DirectoryInUseError(DirectoryError):
    """Another process holds the directory's lock."""


class WrongDirectoryError(DirectoryError):
    """The directory belongs to another cluster or node."""


class TopicIdError(StorageError):
    """The log on disk is of another topic with the same name (INCONSISTENT_TOPIC_ID)."""


# -- appending and reading


class OffsetOutOfRangeError(StorageError):
    """The offset is not between the log's start and its end (OFFSET_OUT_OF_RANGE)."""

    def __init__(self, offset: int, start_offset: int, end_offset: int) -> None:
        self.offset = offset
        self.start_offset = start_offset
        self.end_offset = end_offset
        super().__init__(f"offset {offset} is not in the log, which has {start_offset} up to {end_offset}")


class UnexpectedOffsetError(StorageError):
    """A follower was given batches that do not follow its log's end."""

    def __init__(self, first_offset: int, end_offset: int) -> None:
        self.first_offset = first_offset
        self.end_offset = end_offset
        super().__init__(f"offset {first_offset} was to be appended to a log that ends at {end_offset}")


class BatchTooLargeError(StorageError):
    """What is appended at once must fit into one segment (RECORD_LIST_TOO_LARGE)."""


class ProducerError(StorageError):
    """A producer's batch does not continue what the log has of it."""

    def __init__(self, producer_id: int, reason: str) -> None:
        self.producer_id = producer_id
        super().__init__(f"producer {producer_id}: {reason}")


class OutOfOrderSequenceError(ProducerError):
    """A batch is missing before this one (OUT_OF_ORDER_SEQUENCE_NUMBER)."""

    def __init__(self, producer_id: int, reason: str, *, sequence: int, expected_sequence: int) -> None:
        self.sequence = sequence
        self.expected_sequence = expected_sequence
        super().__init__(producer_id, reason)


class InvalidProducerEpochError(ProducerError):
    """A newer instance of the producer has written (INVALID_PRODUCER_EPOCH)."""

    def __init__(self, producer_id: int, *, epoch: int, current_epoch: int) -> None:
        self.epoch = epoch
        self.current_epoch = current_epoch
        super().__init__(producer_id, f"epoch {epoch} is older than epoch {current_epoch}, which has written since")


class InvalidTransactionError(ProducerError):
    """The batch is not part of a transaction that is open here (INVALID_TXN_STATE)."""


class CoordinatorFencedError(ProducerError):
    """A marker of a coordinator that has been replaced (TRANSACTION_COORDINATOR_FENCED)."""

    def __init__(self, producer_id: int, *, coordinator_epoch: int, current_epoch: int) -> None:
        self.coordinator_epoch = coordinator_epoch
        self.current_epoch = current_epoch
        reason = f"a marker of coordinator epoch {coordinator_epoch}, after one of epoch {current_epoch}"
        super().__init__(producer_id, reason)


# -- long work


class CompactionCancelled(StorageError):  # not an error of anybody's
    """The log was cut, deleted or no longer is compacted while a worker was copying it."""
