"""Record batches as producers build them, rightly, oddly and wrongly."""

import struct
from collections.abc import Callable
from random import Random
from typing import Any, Final

from crc32c import crc32c

from kafkish_protocol.records import (
    HEADER_BYTES,
    BatchHeader,
    Compression,
    Record,
    build_batch,
)

CRC_AT, CRC_START, MAGIC_AT, ATTRIBUTES_AT, PRODUCER_AT = 17, 21, 16, 21, 43
SEQUENCE_SPACE: Final = 1 << 31


def records_of(random: Random, base_ms: int, keys: bool = True) -> list[Record]:
    """A few small records."""
    return [
        Record(
            offset=number,
            timestamp=base_ms + random.randrange(1000),
            key=f"k{random.randrange(3)}".encode() if keys else None,
            value=random.choice([b"", None, b"v" * random.randrange(1, 200), b"value"]),
            headers=random.choice([[], [("h", b"1")], [("h", None), ("h", b"")]]),
        )
        for number in range(random.choice([1, 1, 2, 5]))
    ]


def with_checksum(batch: bytearray) -> bytearray:
    """The batch, the first if there are several, with a checksum that fits what it is now."""
    end = BatchHeader(batch).size_bytes
    struct.pack_into(">I", batch, CRC_AT, crc32c(bytes(batch[CRC_START:end])))
    return batch


def patched(format: str, at: int, value: int, checksum: bool = True) -> Callable[[bytearray], bytearray]:
    """A change of one field of the header."""

    def change(batch: bytearray) -> bytearray:
        struct.pack_into(format, batch, at, value)
        return with_checksum(batch) if checksum else batch

    return change


WRONGS: Final[dict[str, Callable[[bytearray], bytearray]]] = {
    "a checksum that does not fit": patched(">I", CRC_AT, 1, checksum=False),
    "magic 1": patched(">b", MAGIC_AT, 1),
    "magic 3": patched(">b", MAGIC_AT, 3),
    "a base offset": patched(">q", 0, 7),
    "a leader's epoch": patched(">i", 12, 3),
    "an offset delta too large": patched(">i", 23, 9),
    "a negative offset delta": patched(">i", 23, -1),
    "too many records": patched(">i", 57, 9),
    "no records": patched(">i", 57, 0),
    "a negative count": patched(">i", 57, -1),
    "an unknown codec": patched(">h", ATTRIBUTES_AT, 7),
    "a control batch": patched(">h", ATTRIBUTES_AT, 0x20),
    "a transaction's batch": patched(">h", ATTRIBUTES_AT, 0x10),
    "log append time": patched(">h", ATTRIBUTES_AT, 0x08),
    "a length too long": patched(">i", 8, 100_000, checksum=False),
    "a length too short": patched(">i", 8, 3, checksum=False),
    "a negative length": patched(">i", 8, -5, checksum=False),
    "a last byte missing": lambda batch: batch[:-1],
    "a byte too many": lambda batch: batch + b"\0",
    "half a header": lambda batch: batch[:30],
    "twice the same": lambda batch: batch + batch,
    "nothing": lambda _batch: bytearray(),
    "a maximal timestamp that lies": patched(">q", 35, 5),
    "a base timestamp of none": patched(">q", 27, -1),
    "a far future": patched(">q", 27, 9_000_000_000_000),
    "a producer without an epoch": patched(">q", PRODUCER_AT, 5),
    "an epoch without a producer": patched(">h", 51, 5),
    "a sequence without a producer": patched(">i", 53, 5),
}


def build(random: Random, base_ms: int, **producer: Any) -> bytearray:
    """A batch that a broker takes, unless the topic wants it otherwise."""
    codec = random.choice([Compression.NONE, Compression.NONE, *Compression])
    return build_batch(records_of(random, base_ms, random.random() < 0.9), compression=codec, **producer)


def large(base_ms: int, size_bytes: int) -> bytearray:
    """A batch of one record and about this size."""
    return build_batch([Record(offset=0, timestamp=base_ms, key=b"k", value=bytes(size_bytes))])


def relabelled(records: bytes | bytearray | memoryview, name: Callable[[int], int]) -> bytearray:
    """The batches with the producer's id as the broker knows it."""
    data = bytearray(records)
    if len(data) >= HEADER_BYTES:
        (producer_id,) = struct.unpack_from(">q", data, PRODUCER_AT)
        if name(producer_id) != producer_id:
            struct.pack_into(">q", data, PRODUCER_AT, name(producer_id))
            with_checksum(data)
    return data
