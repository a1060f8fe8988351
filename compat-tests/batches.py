"""Record batches as bytes: built as a producer builds them, and read as a broker stores them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from kafka.record.memory_records import MemoryRecords
from kafka.record.util import calc_crc32c

CODECS: Final = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
CODEC_NAMES: Final = {number: name for name, number in CODECS.items()}

LENGTH_AT, EPOCH_AT, MAGIC_AT, CRC_AT, ATTRIBUTES_AT = 8, 12, 16, 17, 21
LAST_OFFSET_DELTA_AT, COUNT_AT, HEADER_BYTES = 23, 57, 61


@dataclass(frozen=True)
class Producer:
    """What an idempotent or transactional producer writes into its batches."""

    id: int = -1
    epoch: int = -1
    transactional: bool = False


@dataclass(frozen=True)
class Record:
    """One record to send."""

    value: bytes | None = b"value"
    key: bytes | None = b"key"
    timestamp_ms: int = 1_700_000_000_000
    headers: Sequence[tuple[str, bytes | None]] = field(default_factory=list)


def build(
    records: Sequence[Record], codec: str = "none", producer: Producer = Producer(), sequence: int = -1
) -> bytearray:
    """A batch whose first offset is 0."""
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=CODECS[codec],
        is_transactional=int(producer.transactional),
        producer_id=producer.id,
        producer_epoch=producer.epoch,
        base_sequence=sequence,
        batch_size=1 << 30,
    )
    for offset, record in enumerate(records):
        builder.append(offset, record.timestamp_ms, record.key, record.value, list(record.headers))
    return bytearray(builder.build())


def values(*data: bytes, **settings: Any) -> bytearray:
    """A batch of records with these values and the same key."""
    return build([Record(value) for value in data], **settings)


def changed(batch: bytes | bytearray, at: int, data: bytes) -> bytearray:
    """The batch with some bytes replaced, and a checksum that fits again."""
    copy = bytearray(batch)
    copy[at : at + len(data)] = data
    copy[CRC_AT : CRC_AT + 4] = int(calc_crc32c(memoryview(copy)[ATTRIBUTES_AT:])).to_bytes(4, "big")
    return copy


def read(data: bytes | None) -> list[DefaultRecordBatch]:
    """The whole batches of what Fetch returned; a broker may cut the last one short."""
    records = MemoryRecords(bytes(data or b""))
    return list(iter(records.next_batch, None))


def span(batch: DefaultRecordBatch) -> tuple[int, int]:
    """A batch's first and last offset."""
    return batch.base_offset, batch.last_offset
