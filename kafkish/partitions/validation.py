"""What a broker checks before it appends what a producer sent.

Checked on every batch, from its header of 61 bytes: that there is exactly one, that it is whole, its format, its
checksum, its size, its offsets and count, its flags, its sequence, and that its latest time is not too far ahead.

Checked on every record, which means unpacking and reading them one by one, only where a rule of the topic needs it:

- `cleanup.policy` has `compact`: each record needs a key;
- `message.timestamp.before.max.ms` is set: no record may be older;
- `compression.type` names another codec than the batch has: the records are packed anew;
- or the header's times cannot all be true: then the records' own count.

Everything else about single records is left to their readers.
"""

from dataclasses import dataclass
from typing import Final

from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.records import (
    NO_TIMESTAMP,
    Batch,
    Compression,
    CorruptBatchError,
    InvalidRecordError,
    Record,
    UnknownCompressionError,
    build_batch,
    set_max_timestamp,
)
from kafkish_protocol.records.batch import (
    COMPRESSION_BITS,
    CONTROL_BIT,
    LENGTH_END,
    MAGIC_OFFSET,
    SMALLEST_LEGACY_BYTES,
    TIMESTAMP_TYPE_BIT,
)

_ZSTD_SINCE_VERSION: Final = 7
UNLIMITED_MS: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class RecordError:
    """A record that broke a rule, by its place in the batch."""

    index: int
    message: str

    def __str__(self) -> str:
        return f"RecordError(batchIndex={self.index}, message='{self.message}')"


class ProduceError(Exception):
    """Why nothing was appended: the code that the partition's answer carries, and which records are to blame."""

    def __init__(self, code: ErrorCode, message: str, records: tuple[RecordError, ...] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.records = records


@dataclass(frozen=True, slots=True)
class ProduceRules:
    """A topic's settings, as far as they say what may be appended to it."""

    max_message_bytes: int = 1_048_588
    compacted: bool = False
    log_append_time: bool = False
    timestamp_before_max_ms: int = UNLIMITED_MS
    timestamp_after_max_ms: int = 3_600_000
    compression: Compression | None = None  # None: as the producer packed it
    compression_level: int | None = None
    max_unpacked_bytes: int | None = None

    @property
    def needs_records(self) -> bool:
        """Whether some rule looks at single records."""
        return self.compacted or (self.timestamp_before_max_ms < UNLIMITED_MS and not self.log_append_time)


def only_batch(records: memoryview | None, version: int) -> Batch:
    """The one batch in `records`. What follows it and is not whole is left out, as in Kafka."""
    if not records:
        reason = f"Produce requests with version {version} must have at least one record batch per partition"
        raise ProduceError(ErrorCode.INVALID_RECORD, reason)
    try:
        batch = Batch(records)
    except CorruptBatchError as error:
        raise ProduceError(ErrorCode.CORRUPT_MESSAGE, str(error)) from None
    except InvalidRecordError as error:
        raise ProduceError(ErrorCode.INVALID_RECORD, str(error)) from None
    if version < _ZSTD_SINCE_VERSION and compression_of(batch) is Compression.ZSTD:
        reason = f"Produce requests with version {version} are not allowed to use ZStandard compression"
        raise ProduceError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, reason)
    if batch.size_bytes != len(records):
        _check_rest(records[batch.size_bytes :], version)
    return batch


def _check_rest(rest: memoryview, version: int) -> None:
    """Refuse if what follows the batch is another, or pretends to be."""
    if len(rest) < LENGTH_END:
        return
    size_bytes = int.from_bytes(rest[8:LENGTH_END], "big", signed=True)
    if size_bytes < SMALLEST_LEGACY_BYTES or (len(rest) > MAGIC_OFFSET and rest[MAGIC_OFFSET] > 2):
        raise ProduceError(ErrorCode.CORRUPT_MESSAGE, "what follows the record batch is none")
    if len(rest) >= size_bytes + LENGTH_END:
        reason = f"Produce requests with version {version} must contain exactly one record batch per partition"
        raise ProduceError(ErrorCode.INVALID_RECORD, reason)


def compression_of(batch: Batch) -> Compression:
    """The codec that the batch names. Kafka has no error of its own for one that does not exist."""
    try:
        return batch.compression
    except UnknownCompressionError as error:
        raise ProduceError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from None


def validate(batch: Batch, rules: ProduceRules, now_ms: int, partition: str) -> Batch:
    """The batch, ready to be appended; its bytes are the producer's own unless a rule changes them.

    `partition` is its name, for people.
    """
    _check_header(batch, rules)
    repack = rules.compression is not None and rules.compression is not batch.compression
    if repack or rules.needs_records or _has_odd_times(batch, rules, now_ms):
        records = _read_records(batch, rules)
        _check_records(batch, records, rules, now_ms, partition)
        if not repack:
            return _with_time_of(batch, records, rules)
        batch = _repacked(batch, records, rules)
        _check_size(batch, rules)
    return batch


def _check_header(batch: Batch, rules: ProduceRules) -> None:
    """What a producer may say of a batch, in the order in which Kafka looks."""
    if batch.base_offset:
        reason = f"The baseOffset of the record batch should be 0, but it is {batch.base_offset}"
        raise ProduceError(ErrorCode.INVALID_RECORD, reason)
    _check_size(batch, rules)
    if not batch.crc_is_valid():
        raise ProduceError(ErrorCode.CORRUPT_MESSAGE, f"Record is corrupt (stored crc = {batch.crc})")
    if batch.attributes & COMPRESSION_BITS:
        compression_of(batch)
    if (
        not 0 < batch.count == batch.last_offset_delta + 1
        or batch.attributes & CONTROL_BIT
        or (batch.producer_id >= 0 and batch.base_sequence < 0)
    ):
        raise ProduceError(ErrorCode.INVALID_RECORD, _fault_of_header(batch))


def _fault_of_header(batch: Batch) -> str:
    if batch.count <= 0:
        return f"Invalid reported count for record batch: {batch.count}"
    if batch.count != batch.last_offset_delta + 1:
        return f"Inconsistent batch offset range [0, {batch.last_offset}] and count of records {batch.count}"
    if batch.is_control:
        return "Clients are not allowed to write control records"
    return f"Invalid sequence number {batch.base_sequence} in record batch with producerId {batch.producer_id}"


def _check_size(batch: Batch, rules: ProduceRules) -> None:
    if batch.size_bytes > rules.max_message_bytes:
        reason = f"The record batch size {batch.size_bytes} exceeds the maximum {rules.max_message_bytes}"
        raise ProduceError(ErrorCode.MESSAGE_TOO_LARGE, reason)


def _has_odd_times(batch: Batch, rules: ProduceRules, now_ms: int) -> bool:
    """Whether the header's times are not those of an honest batch that the topic takes."""
    if batch.attributes & TIMESTAMP_TYPE_BIT:
        return True
    return not rules.log_append_time and (
        batch.max_timestamp - now_ms > rules.timestamp_after_max_ms
        or batch.base_timestamp > batch.max_timestamp
        or (batch.base_timestamp == NO_TIMESTAMP != batch.max_timestamp)
    )


# -- rules that need the records


def _read_records(batch: Batch, rules: ProduceRules) -> list[Record]:
    try:
        return list(batch.records(rules.max_unpacked_bytes))
    except InvalidRecordError as error:
        raise ProduceError(ErrorCode.INVALID_RECORD, str(error)) from None


def _check_records(batch: Batch, records: list[Record], rules: ProduceRules, now_ms: int, partition: str) -> None:
    """Refuse the batch if any record breaks a rule, and name those that do."""
    faults, is_untimely = [], False
    for index, record in enumerate(records):
        if rules.compacted and record.key is None:
            reason = f"Compacted topic cannot accept message without key in topic partition {partition}"
            faults.append(RecordError(index, reason))
        elif (fault := _fault_of_time(batch, record, rules, now_ms)) is not None:
            faults.append(RecordError(index, fault))
            is_untimely = True
    if is_untimely:
        reason = "One or more records have been rejected due to invalid timestamp"
        raise ProduceError(ErrorCode.INVALID_TIMESTAMP, reason, tuple(faults))
    if faults:
        reason = (
            f"One or more records have been rejected due to {len(faults)} record errors in total, "
            f"and only showing the first three errors at most: [{', '.join(map(str, faults[:3]))}]"
        )
        raise ProduceError(ErrorCode.INVALID_RECORD, reason, tuple(faults))


def _fault_of_time(batch: Batch, record: Record, rules: ProduceRules, now_ms: int) -> str | None:
    if not rules.log_append_time and record.timestamp != NO_TIMESTAMP:
        oldest, newest = now_ms - rules.timestamp_before_max_ms, now_ms + rules.timestamp_after_max_ms
        if not oldest <= record.timestamp <= newest:
            return (
                f"Timestamp {record.timestamp} of message with offset {record.offset} is out of range. "
                f"The timestamp should be within [{oldest}, {newest}]"
            )
    elif batch.has_log_append_time:
        sizes = f"key={len(record.key or b'')} bytes, value={len(record.value or b'')} bytes"
        shown = f"DefaultRecord(offset={record.offset}, timestamp={record.timestamp}, {sizes})"
        return f"Invalid timestamp type in message {shown}. Producer should not set timestamp type to LogAppendTime."
    return None


# -- rules that change the bytes


def as_packed(batch: Batch, rules: ProduceRules) -> Batch:
    """A batch of the broker's own, packed as the topic wants its batches. Markers of transactions stay as they are."""
    if rules.compression is None or rules.compression is batch.compression or batch.is_control:
        return batch
    return _repacked(batch, list(batch.records()), rules)


def _repacked(batch: Batch, records: list[Record], rules: ProduceRules) -> Batch:
    assert rules.compression is not None
    if batch.has_producer_id and batch.producer_epoch < 0:
        reason = f"Invalid producer epoch {batch.producer_epoch}"  # for which Kafka has no error of its own
        raise ProduceError(ErrorCode.UNKNOWN_SERVER_ERROR, reason)
    return Batch(
        build_batch(
            records,
            compression=rules.compression,
            level=rules.compression_level,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            base_sequence=batch.base_sequence,
            transactional=batch.is_transactional,
        )
    )


def _with_time_of(batch: Batch, records: list[Record], rules: ProduceRules) -> Batch:
    """The batch, with its records' latest time where its header says another."""
    latest_ms = max(record.timestamp for record in records)
    if rules.log_append_time or (latest_ms == batch.max_timestamp and not batch.has_log_append_time):
        return batch
    changed = bytearray(batch.view)  # the producer's bytes may be read-only, and are not ours to change
    set_max_timestamp(changed, 0, latest_ms)
    return Batch(changed)
