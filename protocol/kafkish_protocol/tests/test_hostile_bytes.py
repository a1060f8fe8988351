"""Bytes made to hurt are refused before they cost anything.

Each case is refused with less memory than four times the frame, or half a megabyte where the frame is small. How long
the slowest took is shown, not asserted.
"""

import struct
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import lz4.frame
import pytest

from kafkish_protocol.errors import CodecError
from kafkish_protocol.messages.api_versions import ApiVersionsRequest
from kafkish_protocol.messages.create_topics import CreateTopicsRequest
from kafkish_protocol.messages.delete_groups import DeleteGroupsRequest
from kafkish_protocol.messages.fetch import FetchRequest
from kafkish_protocol.messages.headers import RequestHeader
from kafkish_protocol.messages.join_group import JoinGroupRequest
from kafkish_protocol.messages.offset_fetch import OffsetFetchRequest
from kafkish_protocol.messages.produce import ProduceRequest
from kafkish_protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafkish_protocol.records import Batch, Compression, Record, build_batch
from kafkish_protocol.records.compression import compress
from kafkish_protocol.schema import Message
from kafkish_protocol.varint import write_uvarint

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Hostile:
    """A frame, and how to read it."""

    name: str
    frame: bytes
    read: Callable[[bytes], object]


def uvarint(value: int) -> bytes:
    out = bytearray()
    write_uvarint(out, value)
    return bytes(out)


def message(name: str, kind: type[Message], version: int, frame: bytes) -> Hostile:
    return Hostile(name, frame, lambda data: kind.decode(data, version))


def header_start() -> bytes:
    return struct.pack(">hhih", 18, 3, 1, -1)


def tag_flood(pairs: int) -> bytes:
    """A count, and that many tags of no bytes: 20 million fit under Kafka's frame limit (CVE-2026-111115)."""
    return uvarint(pairs) + b"".join(uvarint(tag) + b"\0" for tag in range(200)) * (pairs // 200)


def nested_empties(outer: int, inner: int) -> bytes:
    """CreateTopics v5 with topics of no name, each with many configs of no name: four bytes for an object."""
    config = b"\x01\x00\x00"
    topic = b"\x01" + struct.pack(">ih", 1, 1) + b"\x01" + uvarint(inner + 1) + config * inner + b"\0"
    return uvarint(outer + 1) + topic * outer + struct.pack(">i?", 0, False) + b"\0"


def message_cases() -> Iterator[Hostile]:
    yield message("20 million tags in a header", RequestHeader, 2, header_start() + tag_flood(20_000_000))
    yield message("5 million tags in a body", ApiVersionsRequest, 3, b"\x01\x01" + tag_flood(5_000_000))
    yield message("33 tags", ApiVersionsRequest, 3, b"\x01\x01" + tag_flood(200))
    yield message("tag larger than the frame", ApiVersionsRequest, 3, b"\x01\x01\x01\x00" + uvarint(2**31 - 1))
    yield message("2 billion topics", CreateTopicsRequest, 5, uvarint(2**31 - 1) + bytes(MEGABYTE))
    yield message("2 billion topics, classic", CreateTopicsRequest, 4, struct.pack(">i", 2**31 - 1) + bytes(MEGABYTE))
    yield message("-5 topics", CreateTopicsRequest, 4, struct.pack(">i", -5) + bytes(MEGABYTE))
    yield message("null topics", CreateTopicsRequest, 5, b"\0" + bytes(MEGABYTE))
    yield message("10 million empty names", DeleteGroupsRequest, 2, uvarint(10_000_001) + b"\x01" * 10_000_000)
    yield message("2 million structs of 3 bytes", ProduceRequest, 9, produce_empties(2_000_000))
    yield message("nested empties", CreateTopicsRequest, 5, nested_empties(1_000, 1_000))
    yield message("nested empties in wide rows", CreateTopicsRequest, 5, nested_empties(20, 49_000))
    yield message("nested empties in narrow rows", CreateTopicsRequest, 5, nested_empties(400_000, 1))
    yield message("2 GB string", OffsetFetchRequest, 6, uvarint(2**31 - 1) + bytes(MEGABYTE))
    yield message("string of 32,768 bytes", OffsetFetchRequest, 6, uvarint(32_769) + b"x" * 32_768 + b"\0\0\0")
    yield message("negative string", OffsetFetchRequest, 5, struct.pack(">h", -2) + bytes(MEGABYTE))
    yield message("2 GB bytes", SaslAuthenticateRequest, 2, uvarint(2**31 - 1) + bytes(MEGABYTE))
    yield message("2 GB bytes, classic", SaslAuthenticateRequest, 1, struct.pack(">i", 2**31 - 1) + bytes(MEGABYTE))
    yield message("varint of 6 bytes", OffsetFetchRequest, 6, b"\x81\x80\x80\x80\x80\x00" + bytes(MEGABYTE))
    yield message("varint of a million bytes", OffsetFetchRequest, 6, b"\x80" * MEGABYTE)
    yield message("varint of 32 bits", OffsetFetchRequest, 6, b"\xff\xff\xff\xff\x0f" + bytes(MEGABYTE))
    yield message("no bytes at all", FetchRequest, 12, b"")
    yield message("string that is not there", JoinGroupRequest, 9, b"\x7f")


def produce_empties(topics: int) -> bytes:
    return b"\x00" + struct.pack(">hi", 1, 0) + uvarint(topics + 1) + b"\x01\x01\x00" * topics + b"\0"


# -- record batches


def batch(compression: Compression, packed: bytes, count: int = 1) -> bytes:
    """A batch with these bytes in place of its records."""
    made = build_batch([Record()], compression=Compression.NONE)[:61] + packed
    struct.pack_into(">i", made, 8, len(made) - 12)
    struct.pack_into(">h", made, 21, compression)
    struct.pack_into(">i", made, 57, count)
    return bytes(made)


def records(name: str, frame: bytes) -> Hostile:
    return Hostile(name, frame, lambda data: sum(1 for _ in Batch(data).records()))


def bombs() -> dict[Compression, bytes]:
    """A gigabyte of zeros, or as much as fits in a megabyte, packed by each codec."""
    zeros = bytes(64 * MEGABYTE)
    gzip = zlib.compressobj(9, zlib.DEFLATED, 31)
    snappy_copies = uvarint(2**30) + b"\x00\x00" + b"\xfe\x01\x00" * (MEGABYTE // 3)
    return {
        Compression.GZIP: b"".join(gzip.compress(zeros) for _ in range(16)) + gzip.flush(),
        Compression.SNAPPY: snappy_copies,
        Compression.LZ4: lz4.frame.compress(zeros * 3, block_linked=False),
        Compression.ZSTD: compress(Compression.ZSTD, zeros) * 16,
    }


def with_first_record(data: bytes) -> bytes:
    """The length of a record of a gigabyte, so that a reader must unpack to see that it is not there."""
    out = bytearray()
    write_uvarint(out, 2 * 2**30)
    return bytes(out) + data


def record_cases() -> Iterator[Hostile]:
    for compression, packed in bombs().items():
        yield records(f"{compression.name} bomb", batch(compression, packed))
        whole = compress(compression, with_first_record(bytes(20 * MEGABYTE)))
        yield records(
            f"{compression.name} bomb with one large record", batch(compression, whole + bytes(MEGABYTE // 2))
        )
        yield records(f"{compression.name} garbage", batch(compression, b"\x93garbage" * 1000))
        yield records(f"{compression.name} cut short", batch(compression, compress(compression, b"\x0e" * 50_000)[:-9]))
    for codec in (Compression.GZIP, Compression.LZ4, Compression.ZSTD):
        empty = compress(codec, b"")
        yield records(f"{codec.name} frames of nothing", batch(codec, empty * (MEGABYTE // len(empty))))
    yield records("snappy that declares 2 GB", batch(Compression.SNAPPY, uvarint(2**31 - 1) + bytes(MEGABYTE)))
    yield records("xerial block of 2 GB", batch(Compression.SNAPPY, b"\x82SNAPPY\0" + bytes(8) + b"\x7f\xff\xff\xff"))
    yield records("2 billion records", batch(Compression.NONE, b"\x0c" + bytes(6), count=2**31 - 1))
    yield records("-1 records", batch(Compression.NONE, b"\x0c" + bytes(6), count=-1))
    yield records("record of -1 bytes", batch(Compression.NONE, b"\x01" + bytes(MEGABYTE)))
    yield records("record of 1 GB", batch(Compression.NONE, uvarint(2**31 - 2) + bytes(MEGABYTE)))
    yield records("key of 1 GB", batch(Compression.NONE, b"\x14" + bytes(3) + uvarint(2**31 - 2) + bytes(2)))
    yield records("a billion headers", batch(Compression.NONE, b"\x18" + bytes(3) + b"\x01\x01" + uvarint(2**31 - 2)))
    yield records("more records than counted", batch(Compression.NONE, (b"\x0c" + bytes(6)) * 2, count=1))
    yield records("fewer records than counted", batch(Compression.NONE, b"\x0c" + bytes(20), count=3))
    for size in (0, 5, 11, 12, 60):
        yield records(f"batch of {size} bytes", batch(Compression.NONE, b"")[:size] or b"\0")
    for magic in (0, 1, 3, 127, 255):
        yield records(f"magic {magic}", bytes(16) + bytes([magic]) + bytes(100))
    yield records("compression 5", batch(Compression.NONE, b"\x0c" + bytes(6))[:22] + b"\x05" + bytes(45))


CASES = [*message_cases(), *record_cases()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_is_refused_with_little_memory(case: Hostile) -> None:
    with pytest.raises(CodecError):
        case.read(case.frame)  # so that what is loaded or derived at first use is not counted
    tracemalloc.start()
    try:
        with pytest.raises(CodecError):
            case.read(case.frame)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < max(4 * len(case.frame), 512 * 1024)


def test_is_refused_soon(show: Callable[[str], None]) -> None:
    slowest_s, name = max((best_of_three_s(case), case.name) for case in CASES)
    show(f"{len(CASES)} hostile inputs refused, the slowest ({name}) in {slowest_s * 1000:.0f} ms")


def best_of_three_s(case: Hostile) -> float:
    times_s = []
    for _ in range(3):
        start = time.perf_counter()
        with pytest.raises(CodecError):
            case.read(case.frame)
        times_s.append(time.perf_counter() - start)
    return min(times_s)
