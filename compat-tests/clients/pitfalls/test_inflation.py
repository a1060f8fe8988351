"""Little bytes that inflate to very many: refused without the memory that they would take, and the broker serves on."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import batches
import control
import lz4.frame
import pytest
import zstandard
from brokers import Broker
from wire import Wire

MEGABYTE: Final = 1 << 20
INVALID: Final = 87
MAX_GROWTH: Final = 180 * MEGABYTE
"""A request has 100 MB at most, and nothing may be longer unpacked: room for that, and for copies."""


def packed(codec: str, data: Iterable[bytes]) -> bytes:
    packers: dict[str, Callable[[], Any]] = {
        "gzip": lambda: zlib.compressobj(wbits=31),
        "lz4": lambda: lz4.frame.LZ4FrameCompressor(block_linked=False),  # as Kafka wants it
        "zstd": lambda: zstandard.ZstdCompressor().compressobj(),
    }
    packer = packers[codec]()
    begun = packer.begin() if codec == "lz4" else b""
    return bytes(begun) + b"".join(packer.compress(chunk) for chunk in data) + bytes(packer.flush())


def zeros(size: int) -> Iterator[bytes]:
    return (bytes(MEGABYTE) for _ in range(size // MEGABYTE))


def varint(number: int) -> bytes:
    """Zigzag, as records have it."""
    left, out = number * 2 if number >= 0 else -number * 2 - 1, bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*out, left])


def record(size: int, offset_delta: int = 0) -> Iterator[bytes]:
    """As it should be, but for its size."""
    fields = b"\0\0" + varint(offset_delta) + varint(1) + b"k" + varint(size)
    yield varint(len(fields) + size + 1) + fields
    yield from zeros(size)
    yield varint(0)


def records(size: int) -> Iterator[bytes]:
    """As they should be, but for their number."""
    return (part for number in range(size // MEGABYTE) for part in record(MEGABYTE, number))


def bomb(codec: str, data: Iterable[bytes], count: int) -> bytearray:
    """A batch that says it has so many records, and has this."""
    batch = batches.values(b"value")[: batches.HEADER_BYTES] + packed(codec, data)
    batch[batches.ATTRIBUTES_AT + 1] = batches.CODECS[codec]
    batch[batches.LENGTH_AT : batches.LENGTH_AT + 4] = (len(batch) - 12).to_bytes(4, "big")
    last = batches.changed(batch, batches.LAST_OFFSET_DELTA_AT, (count - 1).to_bytes(4, "big"))
    return batches.changed(last, batches.COUNT_AT, count.to_bytes(4, "big"))


@pytest.fixture(scope="module")
def victim(broker_with: Callable[..., Broker]) -> Broker:
    """A broker whose memory nobody else has used."""
    return broker_with()


@pytest.mark.owned
@pytest.mark.parametrize("filling", [zeros, record, records])
@pytest.mark.parametrize("codec", ["gzip", "lz4", "zstd"])
def test_batch_that_inflates_without_end_costs_little_and_is_refused(
    victim: Broker, fresh: Callable[[str], str], codec: str, filling: Callable[[int], Iterator[bytes]]
) -> None:
    def made(size: int) -> bytearray:
        return bomb(codec, filling(size), size // MEGABYTE if filling is records else 1)

    batch = made(200 * MEGABYTE if victim.kind == "kafkish" else 64 * MEGABYTE)
    small, topic = made(2 * MEGABYTE), fresh("topic")
    assert len(batch) < MEGABYTE
    with Wire(victim.address) as wire:
        control.create_topic(wire, topic, configs={"compression.type": "snappy"})  # so that it must look inside
        assert control.produce_response(wire, topic, small).error_code == (INVALID if filling is zeros else 0)
        before = victim.peak_memory_bytes()
        error = control.produce_response(wire, topic, batch).error_code
        assert error != 0 or victim.kind != "kafkish"
        assert control.produce(wire, topic, batches.values(b"next")) == control.end_offset(wire, topic) - 1
    if victim.kind == "kafkish":  # Kafka's memory is its JVM's
        assert victim.peak_memory_bytes() - before < MAX_GROWTH
