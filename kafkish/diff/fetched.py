"""Records that were fetched, as what can be compared: compressed bytes differ from library to library."""

from typing import Any, Final

from kafkish import clock
from kafkish.diff.symbols import Symbols
from kafkish_protocol.errors import CodecError
from kafkish_protocol.records import HEADER_BYTES, Batch, BatchHeader, CorruptBatchError, InvalidRecordError, Record
from kafkish_protocol.schema import CoordinatorKey, CoordinatorValue, Struct
from kafkish_protocol.stored.classic_group import GroupMetadataKey, GroupMetadataValue
from kafkish_protocol.stored.offset_commit import OffsetCommitKey, OffsetCommitValue

NOW_MS: Final = 40 * 60 * 1000
"""A time so near to now is a broker's clock, not a client's: requests have times that are hours old."""
STORED: Final[dict[bytes, tuple[type[CoordinatorKey], type[CoordinatorValue]]]] = {
    b"\0\1": (OffsetCommitKey, OffsetCommitValue),
    b"\0\2": (GroupMetadataKey, GroupMetadataValue),
}
"""Records of coordinators, by the first two bytes of their keys."""


def moment(value: int) -> Any:
    """A time, or `now` for one that a broker's clock gave."""
    return "now" if isinstance(value, int) and abs(value - clock.wall_ms()) < NOW_MS else value


def view(records: bytes | memoryview | None, side: int, symbols: Symbols) -> Any:
    """What a broker answered, batch by batch; the last may be cut short."""
    if not records:
        return records if records is None else []
    data, position, seen = bytes(records), 0, []
    while len(data) - position >= HEADER_BYTES:
        header = BatchHeader(data, position)
        seen.append(batch_view(header, data[position : position + header.size_bytes], side, symbols))
        position += header.size_bytes
    return seen


def batch_view(header: BatchHeader, data: bytes, side: int, symbols: Symbols) -> dict[str, Any]:
    """One batch: its header without checksum and length, and its records."""
    if len(data) < header.size_bytes:
        return {"base_offset": header.base_offset, "cut short": True}
    shown = {name: getattr(header, name) for name in BatchHeader.__slots__ if name not in ("crc", "size_bytes")}
    for name in ("base_timestamp", "max_timestamp"):
        shown[name] = moment(shown[name])
    shown["producer_id"] = symbols.symbol(side, "producer", header.producer_id)
    try:
        shown["records"] = records_view(Batch(data), side, symbols)
    except (CorruptBatchError, InvalidRecordError) as error:
        shown["records"] = type(error).__name__
    return shown


def records_view(batch: Batch, side: int, symbols: Symbols) -> list[Any]:
    """The records of a batch. What a coordinator deletes at once, it deletes in the order of a hash table."""
    records = list(batch.records())
    if all(record.value is None and (record.key or b"")[:2] in STORED for record in records):
        return sorted(record.key or b"" for record in records)
    return [record_view(each, side, symbols) for each in records]


def record_view(record: Record, side: int, symbols: Symbols) -> tuple[Any, ...]:
    """One record. What a coordinator wrote is read, since it names topics and members and tells the time."""
    key, value = decoded(record.key, record.value)
    shown = (struct_view(symbols.renamed(side, each, known_only=True)) for each in (key, value))
    return record.offset, moment(record.timestamp), *shown, record.headers


def decoded(key: bytes | None, value: bytes | None) -> tuple[Any, Any]:
    """Key and value of a coordinator's record; those of any other as they are."""
    if key is None or value is None or key[:2] not in STORED:
        return key, value
    key_class, value_class = STORED[key[:2]]
    try:
        return key_class.decode(key, 0, 2), value_class.decode(value, int.from_bytes(value[:2], "big"), 2)
    except (CodecError, ValueError):
        return key, value


def struct_view(value: Any) -> Any:
    """A struct as dictionaries; what has no order is sorted."""
    if isinstance(value, list):
        return sorted((struct_view(each) for each in value), key=repr)
    if not isinstance(value, Struct):
        return value
    fields = {each.name: struct_view(getattr(value, each.name)) for each in value.schema.fields}
    return {name: stored_time(name, field) if name.endswith("timestamp") else field for name, field in fields.items()}


def stored_time(name: str, value: int) -> Any:
    """An end of validity is as far ahead as the client wished, from the broker's now on."""
    return "later" if name == "expire_timestamp" and value > clock.wall_ms() else moment(value)
