"""Makes batches: for internal topics, compaction, recompression, and tests."""

import struct
from collections.abc import Iterable, Sequence

from crc32c import crc32c

from kafkish_protocol.records.batch import (
    COMPRESSION_BITS,
    CONTROL_BIT,
    CRC_START,
    DELETE_HORIZON_BIT,
    HEADER_BYTES,
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    BatchHeader,
)
from kafkish_protocol.records.compression import Compression, compress
from kafkish_protocol.records.record import Record, RecordSpan, write_record


def build_batch(
    records: Sequence[Record],
    *,
    base_offset: int | None = None,
    last_offset: int | None = None,
    leader_epoch: int = NO_LEADER_EPOCH,
    compression: Compression = Compression.NONE,
    level: int | None = None,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    transactional: bool = False,
    control: bool = False,
    log_append_time_ms: int | None = None,
    delete_horizon_ms: int | None = None,
) -> bytearray:
    """A batch of these records, whose offsets need not be contiguous.

    The range of offsets is that of the records unless `base_offset` and `last_offset` widen it, as compaction does; an
    empty batch needs both. `delete_horizon_ms` takes the place of the base timestamp, as Kafka has it.
    """
    if base_offset is None:
        base_offset = records[0].offset
    if last_offset is None:
        last_offset = records[-1].offset
    base_timestamp = records[0].timestamp if records else NO_TIMESTAMP
    if delete_horizon_ms is not None:
        base_timestamp = delete_horizon_ms
    block = bytearray()
    for record in records:
        write_record(block, record, base_offset, base_timestamp)
    max_timestamp = max((record.timestamp for record in records), default=NO_TIMESTAMP)
    if log_append_time_ms is not None:
        max_timestamp = log_append_time_ms
    attributes = (
        compression
        | (TIMESTAMP_TYPE_BIT if log_append_time_ms is not None else 0)
        | (TRANSACTIONAL_BIT if transactional else 0)
        | (CONTROL_BIT if control else 0)
        | (DELETE_HORIZON_BIT if delete_horizon_ms is not None else 0)
    )
    out = bytearray(HEADER_BYTES)
    out += block if compression is Compression.NONE else compress(compression, block, level)
    struct.pack_into(
        ">hiqqqhii", out, CRC_START, attributes, last_offset - base_offset, base_timestamp, max_timestamp,
        producer_id, producer_epoch, base_sequence, len(records),
    )  # fmt: skip
    crc = crc32c(memoryview(out)[CRC_START:])
    struct.pack_into(">qiibI", out, 0, base_offset, len(out) - 12, leader_epoch, 2, crc)
    return out


def thin_batch(batch: BatchHeader, block: bytes, kept: Sequence[RecordSpan]) -> bytearray:
    """A batch with only some of its records, which are copied as they stand.

    It keeps its range of offsets, so that the last sequence of its producer can still be told, and its base timestamp.
    With no record left it is a bare header, without compression and without a delete horizon.
    """
    attributes, base_timestamp = batch.attributes, batch.base_timestamp
    max_timestamp = batch.max_timestamp
    if not kept:
        attributes &= ~(COMPRESSION_BITS | DELETE_HORIZON_BIT)
        base_timestamp = NO_TIMESTAMP
    elif not batch.has_log_append_time:
        max_timestamp = base_timestamp + max(span.timestamp_delta for span in kept)
    out = bytearray(HEADER_BYTES)
    if kept:
        out += _packed(batch, (block[span.start : span.end] for span in kept))
    struct.pack_into(
        ">hiqqqhii", out, CRC_START, attributes, batch.last_offset_delta, base_timestamp, max_timestamp,
        batch.producer_id, batch.producer_epoch, batch.base_sequence, len(kept),
    )  # fmt: skip
    crc = crc32c(memoryview(out)[CRC_START:])
    struct.pack_into(">qiibI", out, 0, batch.base_offset, len(out) - 12, batch.leader_epoch, 2, crc)
    return out


def _packed(batch: BatchHeader, records: Iterable[bytes]) -> bytes:
    return compress(batch.compression, b"".join(records))
