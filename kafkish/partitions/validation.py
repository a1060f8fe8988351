"""What a broker checks before it appends what a producer sent.

Checked on every batch, from its header of 61 bytes: that there is exactly one, that it is whole, its format, its
checksum, its size, its offsets and count, its flags, its sequence, and that its latest time is not too far ahead.

Checked on every record, which means unpacking and reading them one by one, only where a rule of the topic needs it:

- `cleanup.policy` has `compact`: each record needs a key;
- `message.timestamp.before.max.ms` is set: no record may be older;
- `compression.type` names another codec than the batch has: the records are packed anew.

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
    set_log_append_time,
)

_ZSTD_SINCE_VERSION: Final = 7
UNLIMITED_MS: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class RecordError:
    """A record that broke a rule, by its place in the batch."""

    index: int
    message: str


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


def validate(records: memoryview | None, rules: ProduceRules, version: int, now_ms: int) -> Batch:
    """The one batch in `records`, ready to be appended; its bytes are the producer's own unless a rule changes them."""
    batch = _only_batch(records, version)
    if batch.size_bytes > rules.max_message_bytes:
        reason = f"The record batch size {batch.size_bytes} exceeds the maximum {rules.max_message_bytes}"
        raise ProduceError(ErrorCode.MESSAGE_TOO_LARGE, reason)
    if not batch.crc_is_valid():
        raise ProduceError(ErrorCode.CORRUPT_MESSAGE, f"Record is corrupt (stored crc = {batch.crc})")
    _check_header(batch)
    if not rules.log_append_time:
        _check_latest_time(batch, rules, now_ms)
    repack = rules.compression is not None and rules.compression is not batch.compression
    if rules.needs_records or repack:
        read = _read_records(batch, rules)
        _check_records(read, rules, now_ms)
        if repack:
            batch = _repacked(batch, read, rules)
    if rules.log_append_time:
        batch = _with_append_time(batch, now_ms)
    return batch


def _only_batch(records: memoryview | None, version: int) -> Batch:
    if not records:
        reason = f"Produce requests with version {version} must have at least one record batch per partition"
        raise ProduceError(ErrorCode.INVALID_RECORD, reason)
    try:
        batch = Batch(records)
        compression = batch.compression
    except CorruptBatchError as error:
        raise ProduceError(ErrorCode.CORRUPT_MESSAGE, str(error)) from None
    except UnknownCompressionError as error:
        raise ProduceError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, str(error)) from None
    except InvalidRecordError as error:
        raise ProduceError(ErrorCode.INVALID_RECORD, str(error)) from None
    if compression is Compression.ZSTD and version < _ZSTD_SINCE_VERSION:
        reason = f"Produce requests with version {version} are not allowed to use ZStandard compression"
        raise ProduceError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, reason)
    if batch.size_bytes != len(records):
        reason = f"Produce requests with version {version} must contain exactly one record batch per partition"
        raise ProduceError(ErrorCode.INVALID_RECORD, reason)
    return batch


def _check_header(batch: Batch) -> None:
    """What a producer may say of a batch; the offsets are the broker's to give."""
    if batch.base_offset != 0:
        reason = f"The baseOffset of the record batch should be 0, but it is {batch.base_offset}"
    elif batch.count <= 0:
        reason = f"Invalid reported count for record batch: {batch.count}"
    elif batch.count != batch.last_offset_delta + 1:
        reason = (
            f"Inconsistent batch offset range [{batch.base_offset}, {batch.last_offset}] "
            f"and count of records {batch.count}"
        )
    elif batch.is_control:
        reason = "Clients are not allowed to write control records"
    elif batch.has_producer_id and batch.base_sequence < 0:
        reason = f"Invalid sequence number {batch.base_sequence} in record batch with producerId {batch.producer_id}"
    else:
        return
    raise ProduceError(ErrorCode.INVALID_RECORD, reason)


def _check_latest_time(batch: Batch, rules: ProduceRules, now_ms: int) -> None:
    if batch.has_log_append_time:
        reason = "Invalid timestamp type in message. Producer should not set timestamp type to LogAppendTime"
        raise ProduceError(ErrorCode.INVALID_TIMESTAMP, reason)
    if batch.max_timestamp - now_ms > rules.timestamp_after_max_ms:
        reason = f"Timestamp {batch.max_timestamp} of message is more than {rules.timestamp_after_max_ms} ms ahead"
        raise ProduceError(ErrorCode.INVALID_TIMESTAMP, reason)


# -- rules that need the records


def _read_records(batch: Batch, rules: ProduceRules) -> list[Record]:
    try:
        return list(batch.records(rules.max_unpacked_bytes))
    except InvalidRecordError as error:
        raise ProduceError(ErrorCode.INVALID_RECORD, str(error)) from None


def _check_records(records: list[Record], rules: ProduceRules, now_ms: int) -> None:
    """Refuse the batch if any record breaks a rule, and name those that do."""
    if rules.compacted:
        keyless = tuple(
            RecordError(index, "Compacted topic cannot accept message without key")
            for index, record in enumerate(records)
            if record.key is None
        )
        if keyless:
            reason = "One or more records have been rejected"
            raise ProduceError(ErrorCode.INVALID_RECORD, reason, keyless)
    if not rules.log_append_time:
        outside = tuple(
            RecordError(index, f"Timestamp {record.timestamp} of message is out of range")
            for index, record in enumerate(records)
            if record.timestamp != NO_TIMESTAMP and _is_outside(record.timestamp, rules, now_ms)
        )
        if outside:
            reason = "One or more records have been rejected due to invalid timestamp"
            raise ProduceError(ErrorCode.INVALID_TIMESTAMP, reason, outside)


def _is_outside(timestamp: int, rules: ProduceRules, now_ms: int) -> bool:
    return now_ms - timestamp > rules.timestamp_before_max_ms or timestamp - now_ms > rules.timestamp_after_max_ms


# -- rules that change the bytes


def _repacked(batch: Batch, records: list[Record], rules: ProduceRules) -> Batch:
    assert rules.compression is not None
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


def _with_append_time(batch: Batch, now_ms: int) -> Batch:
    """A copy: the producer's bytes may be read-only, and are not ours to change."""
    changed = bytearray(batch.view)
    set_log_append_time(changed, 0, now_ms)
    return Batch(changed)
