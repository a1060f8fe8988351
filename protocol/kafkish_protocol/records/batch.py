"""The 61 bytes that say everything about a batch but its records.

    offset  bytes                        offset  bytes
    0       8  base offset               23      4  last offset delta
    8       4  length of what follows    27      8  base timestamp
    12      4  partition leader epoch    35      8  max timestamp
    16      1  magic, 2                  43      8  producer id
    17      4  CRC-32C of bytes 21...    51      2  producer epoch
    21      2  attributes                53      4  base sequence
                                         57      4  number of records

The checksum begins after the base offset and the leader epoch, so that a broker sets both without touching it.
"""

import struct
from collections.abc import Iterator
from typing import Final

from kafkish_protocol.errors import CodecError
from kafkish_protocol.records.checksum import crc32c
from kafkish_protocol.records.compression import Compression, decompress, default_limit_bytes
from kafkish_protocol.records.errors import CorruptBatchError, InvalidRecordError
from kafkish_protocol.records.record import Record, read_records
from kafkish_protocol.varint import Buffer

HEADER_BYTES: Final = 61
LENGTH_END: Final = 12  # the length counts from here
CRC_START: Final = 21
MAGIC_OFFSET: Final = 16
MAGIC: Final = 2
SMALLEST_LEGACY_BYTES: Final = 14

NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_SEQUENCE: Final = -1
NO_TIMESTAMP: Final = -1
NO_LEADER_EPOCH: Final = -1

_HEADER: Final = struct.Struct(">qiibIhiqqqhii")
_PLACE: Final = struct.Struct(">qii")
_LENGTH: Final = struct.Struct(">i")
_OFFSET: Final = struct.Struct(">q")

COMPRESSION_BITS: Final = 0x07
TIMESTAMP_TYPE_BIT: Final = 0x08
TRANSACTIONAL_BIT: Final = 0x10
CONTROL_BIT: Final = 0x20
DELETE_HORIZON_BIT: Final = 0x40


class BatchHeader:
    """A batch's header, read from a buffer and not tied to it."""

    __slots__ = (
        "attributes",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "count",
        "crc",
        "last_offset_delta",
        "leader_epoch",
        "magic",
        "max_timestamp",
        "producer_epoch",
        "producer_id",
        "size_bytes",
    )

    base_offset: int
    size_bytes: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int

    def __init__(self, buffer: Buffer, position: int = 0) -> None:
        """Read 61 bytes, whatever they are: `check_size` and the rest judge them."""
        (
            self.base_offset,
            length,
            self.leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.count,
        ) = _HEADER.unpack_from(buffer, position)
        self.size_bytes = length + LENGTH_END

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last record; it wraps from 2**31 - 1 to 0."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) & 0x7FFFFFFF

    @property
    def compression(self) -> Compression:
        return Compression.of(self.attributes)

    @property
    def is_transactional(self) -> bool:
        return self.attributes & TRANSACTIONAL_BIT != 0

    @property
    def is_control(self) -> bool:
        return self.attributes & CONTROL_BIT != 0

    @property
    def has_log_append_time(self) -> bool:
        """Whether all records have the time at which the broker appended them, `max_timestamp`."""
        return self.attributes & TIMESTAMP_TYPE_BIT != 0

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id > NO_PRODUCER_ID

    @property
    def delete_horizon_ms(self) -> int | None:
        """When tombstones and markers in the batch may go; it takes the place of the base timestamp."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON_BIT else None

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(offsets {self.base_offset}-{self.last_offset}, {self.count} records, "
            f"{self.size_bytes} bytes, epoch {self.leader_epoch}, producer {self.producer_id})"
        )


class Batch(BatchHeader):
    """A batch and its bytes, which are not copied."""

    __slots__ = ("view",)

    view: memoryview

    def __init__(self, buffer: Buffer, position: int = 0) -> None:
        """Take the batch at this position; refuse it if it is not whole or not of format 2."""
        view = memoryview(buffer)
        left = len(view) - position
        if left < HEADER_BYTES:
            raise _fault(view, position)
        super().__init__(view, position)
        if self.magic != MAGIC or not HEADER_BYTES <= self.size_bytes <= left:
            raise _fault(view, position)
        self.view = view if self.size_bytes == len(view) else view[position : position + self.size_bytes]

    def crc_is_valid(self) -> bool:
        """Whether the bytes are those that the producer summed up."""
        return crc32c(self.view[CRC_START:]) == self.crc

    def records(self, limit_bytes: int | None = None) -> Iterator[Record]:
        """Read the records one by one, unpacking as it goes and no more than `limit_bytes`."""
        packed = self.view[HEADER_BYTES:]
        return read_records(self, packed, default_limit_bytes(len(packed)) if limit_bytes is None else limit_bytes)

    def block(self, limit_bytes: int) -> bytes:
        """All records as bytes, unpacked. `read_spans` tells them apart."""
        return b"".join(decompress(self.compression, self.view[HEADER_BYTES:], limit_bytes))


def _fault(view: memoryview, position: int) -> CodecError:
    """Why there is no whole batch of format 2 at this position."""
    left = len(view) - position
    if left < LENGTH_END:
        return InvalidRecordError(f"a batch needs {HEADER_BYTES} bytes, {left} left", path="batch", offset=position)
    size_bytes: int = _LENGTH.unpack_from(view, position + 8)[0] + LENGTH_END
    if size_bytes < LENGTH_END + SMALLEST_LEGACY_BYTES:
        return CorruptBatchError(f"a batch cannot have {size_bytes} bytes", path="batch.length", offset=position + 8)
    if size_bytes > left:
        reason = f"the batch has {size_bytes} bytes, {left} left"
        return InvalidRecordError(reason, path="batch.length", offset=position + 8)
    magic = view[position + MAGIC_OFFSET]
    if magic in (0, 1):
        reason = f"magic {magic} is the format of Kafka before 0.11, which is not supported"
        return InvalidRecordError(reason, path="batch.magic", offset=position + MAGIC_OFFSET)
    if magic != MAGIC:
        return CorruptBatchError(f"magic {magic} does not exist", path="batch.magic", offset=position + MAGIC_OFFSET)
    return CorruptBatchError(f"a batch cannot have {size_bytes} bytes", path="batch.length", offset=position + 8)


def read_batches(buffer: Buffer, position: int = 0) -> Iterator[Batch]:
    """The batches that follow one another in a buffer; refuses at the first that is not whole."""
    view = memoryview(buffer)
    while position < len(view):
        batch = Batch(view, position)
        yield batch
        position += batch.size_bytes


def assign_offset(buffer: bytearray | memoryview, position: int, base_offset: int, leader_epoch: int) -> None:
    """Write where the batch stands in its log. The checksum does not cover these bytes."""
    _OFFSET.pack_into(buffer, position, base_offset)
    _LENGTH.pack_into(buffer, position + LENGTH_END, leader_epoch)


def stamp(
    batch: Batch, base_offset: int, leader_epoch: int, log_append_time_ms: int | None = None
) -> tuple[bytes | bytearray, memoryview]:
    """The batch's bytes with its place in a log, and the time of the append if the log keeps that, in two parts.

    The batch's fields are set; its own bytes, which may be a frame's, are left as they are.
    """
    batch.base_offset = base_offset
    batch.leader_epoch = leader_epoch
    place = _PLACE.pack(base_offset, batch.size_bytes - LENGTH_END, leader_epoch)
    if log_append_time_ms is None:
        return place, batch.view[MAGIC_OFFSET:]
    header = bytearray(place + batch.view[MAGIC_OFFSET:HEADER_BYTES])
    batch.attributes |= TIMESTAMP_TYPE_BIT
    batch.max_timestamp = log_append_time_ms
    struct.pack_into(">h", header, CRC_START, batch.attributes)
    _OFFSET.pack_into(header, 35, log_append_time_ms)
    batch.crc = crc32c(batch.view[HEADER_BYTES:], crc32c(memoryview(header)[CRC_START:]))
    struct.pack_into(">I", header, 17, batch.crc)
    return header, batch.view[HEADER_BYTES:]


def set_max_timestamp(buffer: bytearray | memoryview, position: int, timestamp: int) -> None:
    """Say that the records have times of their own and this is the latest, and mend the checksum."""
    size_bytes = _LENGTH.unpack_from(buffer, position + 8)[0] + LENGTH_END
    attributes = struct.unpack_from(">h", buffer, position + CRC_START)[0] & ~TIMESTAMP_TYPE_BIT
    struct.pack_into(">h", buffer, position + CRC_START, attributes)
    _OFFSET.pack_into(buffer, position + 35, timestamp)
    crc = crc32c(memoryview(buffer)[position + CRC_START : position + size_bytes])
    struct.pack_into(">I", buffer, position + 17, crc)
