"""One record inside a batch.

    length varint | attributes int8 | timestamp delta varlong | offset delta varint |
    key length varint, key | value length varint, value | number of headers varint, then for each:
    key length varint, key | value length varint, value

A length of -1 is null. A batch's records are read lazily; nothing that a length says is believed before it is compared
with the bytes that are there.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkish_protocol.errors import Malformed
from kafkish_protocol.records.compression import Compression, decompress
from kafkish_protocol.records.errors import InvalidRecordError
from kafkish_protocol.varint import read_varint, write_varint

if TYPE_CHECKING:
    from kafkish_protocol.records.batch import BatchHeader

SMALLEST_RECORD_BYTES: Final = 7  # length, attributes, and five varints of one byte


@dataclass(slots=True)
class Record:
    """A record with its place and time made absolute."""

    offset: int = 0
    timestamp: int = -1
    key: bytes | None = None
    value: bytes | None = None
    headers: list[tuple[str, bytes | None]] = field(default_factory=list)


def read_records(batch: "BatchHeader", packed: memoryview, limit_bytes: int) -> Iterator[Record]:
    """The records of a batch, in order. Refuses a batch that holds fewer or more than its header counts."""
    count = batch.count
    if count < 0:
        raise InvalidRecordError(f"{count} records", path="batch.count")
    if batch.compression is Compression.NONE and count * SMALLEST_RECORD_BYTES > len(packed):
        raise InvalidRecordError(f"{count} records cannot be in {len(packed)} bytes", path="batch.count")
    window = _Window(decompress(batch.compression, packed, limit_bytes), limit_bytes)
    for index in range(count):
        try:
            start, end = window.next_record()
            yield _read_record(window.data, start, end, batch)
        except (Malformed, IndexError) as error:
            reason = str(error) if isinstance(error, Malformed) else "the record is shorter than its fields"
            raise InvalidRecordError(reason, path=f"records[{index}]") from None
    if not window.is_empty():
        raise InvalidRecordError(f"bytes are left after the {count} records that the batch counts", path="records")


class _Window:
    """The part of the unpacked records that is in memory: one chunk, or as many as the current record needs."""

    def __init__(self, chunks: Iterator[bytes], limit_bytes: int) -> None:
        self._chunks = chunks
        self._limit_bytes = limit_bytes
        self.data = b""
        self._position = 0

    def next_record(self) -> tuple[int, int]:
        """Where the next record's fields start and end in `data`."""
        while True:
            try:
                length, start = read_varint(self.data, self._position)
                break
            except IndexError:
                self._load(len(self.data) - self._position + 1)
        if length < SMALLEST_RECORD_BYTES - 1:
            raise Malformed(f"a record cannot have {length} bytes")
        if length > self._limit_bytes:
            raise Malformed(f"a record of {length} bytes, at most {self._limit_bytes} allowed")
        if len(self.data) - start < length:
            start -= self._position
            self._load(start + length)
        self._position = start + length
        return start, self._position

    def _load(self, needed_bytes: int) -> None:
        """Drop what was read and take chunks until this many bytes are there."""
        parts = [self.data[self._position :]]
        have = len(parts[0])
        while have < needed_bytes:
            chunk = next(self._chunks, None)
            if chunk is None:
                raise Malformed(f"the records end here, {needed_bytes - have} bytes too soon")
            parts.append(chunk)
            have += len(chunk)
        self.data = b"".join(parts)
        self._position = 0

    def is_empty(self) -> bool:
        return self._position == len(self.data) and next(self._chunks, None) is None


def _read_record(data: bytes, position: int, end: int, batch: "BatchHeader") -> Record:
    timestamp_delta, position = read_varint(data, position + 1, 10)
    offset_delta, position = read_varint(data, position)
    key, position = _read_bytes(data, position, end)
    value, position = _read_bytes(data, position, end)
    count, position = read_varint(data, position)
    if count < 0 or count * 2 > end - position:
        raise Malformed(f"{count} headers cannot be in {end - position} bytes")
    headers: list[tuple[str, bytes | None]] = []
    for _ in range(count):
        name, position = _read_bytes(data, position, end)
        if name is None:
            raise Malformed("a header's key is null")
        header, position = _read_bytes(data, position, end)
        headers.append((name.decode("utf-8", "replace"), header))
    if position != end:
        raise Malformed(f"{end - position} bytes of the record are left after its fields")
    timestamp = batch.max_timestamp if batch.has_log_append_time else batch.base_timestamp + timestamp_delta
    return Record(batch.base_offset + offset_delta, timestamp, key, value, headers)


def _read_bytes(data: bytes, position: int, end: int) -> tuple[bytes | None, int]:
    length, position = read_varint(data, position)
    if length == -1:
        return None, position
    stop = position + length
    if not position <= stop <= end:
        raise Malformed(f"{length} bytes, {end - position} left")
    return data[position:stop], stop


class RecordSpan(NamedTuple):
    """Where a record stands in a batch's unpacked block, and what decides about its fate."""

    offset_delta: int
    timestamp_delta: int
    key: bytes | None
    has_value: bool
    start: int
    end: int


def read_spans(batch: "BatchHeader", block: bytes) -> Iterator[RecordSpan]:
    """The records of an unpacked block, without their values and headers: for those who copy records as bytes."""
    position = 0
    for index in range(batch.count):
        start = position
        try:
            length, position = read_varint(block, position)
            end = position + length
            if length < SMALLEST_RECORD_BYTES - 1 or end > len(block):
                raise Malformed(f"a record of {length} bytes, {len(block) - position} left")
            timestamp_delta, position = read_varint(block, position + 1, 10)
            offset_delta, position = read_varint(block, position)
            key, position = _read_bytes(block, position, end)
            value_length, position = read_varint(block, position)
        except (Malformed, IndexError) as error:
            raise InvalidRecordError(str(error), path=f"records[{index}]") from None
        yield RecordSpan(offset_delta, timestamp_delta, key, value_length >= 0, start, end)
        position = end


def write_record(out: bytearray, record: Record, base_offset: int, base_timestamp: int) -> None:
    """Append a record as it stands in a batch with this base."""
    body = bytearray(1)  # no attributes are defined
    write_varint(body, record.timestamp - base_timestamp)
    write_varint(body, record.offset - base_offset)
    _write_bytes(body, record.key)
    _write_bytes(body, record.value)
    write_varint(body, len(record.headers))
    for name, value in record.headers:
        _write_bytes(body, name.encode())
        _write_bytes(body, value)
    write_varint(out, len(body))
    out += body


def _write_bytes(out: bytearray, data: bytes | None) -> None:
    if data is None:
        out.append(1)  # -1 in zigzag
    else:
        write_varint(out, len(data))
        out += data
