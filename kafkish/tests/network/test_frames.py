"""Frames come out whole, however the bytes come in."""

import random

import pytest

from kafkish.network.frames import SHARED_BUFFER_BYTES, FrameReader

LIMIT = 10_000_000


def feed(reader: FrameReader, data: bytes, piece_bytes: int) -> list[bytes]:
    """Write pieces where the reader says, as a socket would."""
    frames, position = [], 0
    while position < len(data) and reader.fault is None:
        buffer = reader.buffer()
        piece = data[position : position + min(piece_bytes, len(buffer))]
        buffer[: len(piece)] = piece
        frames += [bytes(frame) for frame in reader.received(len(piece))]
        position += len(piece)
    return frames


def on_wire(frame: bytes) -> bytes:
    return len(frame).to_bytes(4, "big") + frame


FRAMES = [random.Random(size).randbytes(size) for size in (1, 2, 3, 4, 5, 100, 70_000, 1, 300_000, 7, 1_000_000, 9)]


@pytest.mark.parametrize("piece_bytes", [1, 2, 3, 4, 5, 7, 1_000, 65_536, SHARED_BUFFER_BYTES])
def test_frames_come_out_whole_whatever_the_pieces(piece_bytes: int) -> None:
    frames = FRAMES if piece_bytes > 100 else FRAMES[:7]
    reader = FrameReader(LIMIT)
    assert feed(reader, b"".join(map(on_wire, frames)), piece_bytes) == frames
    assert not reader.is_inside_frame


def test_pieces_of_any_size_mixed() -> None:
    dice = random.Random(1)
    reader, stream, out = FrameReader(LIMIT), b"".join(map(on_wire, FRAMES)), []
    while stream:
        size = dice.choice((1, 3, 50, 4_000, 200_000))
        out += feed(reader, stream[:size], size)
        stream = stream[size:]
    assert out == FRAMES


def test_connections_do_not_mix_in_the_buffer_that_they_share() -> None:
    readers = [FrameReader(LIMIT) for _ in range(3)]
    streams = [on_wire(bytes([n]) * 200_000) for n in range(3)]
    frames: list[list[bytes]] = [[], [], []]
    for start in range(0, len(streams[0]), 10_000):
        for n in range(3):
            frames[n] += feed(readers[n], streams[n][start : start + 10_000], 10_000)
    assert frames == [[bytes([n]) * 200_000] for n in range(3)]


def test_memory_grows_with_the_bytes_not_with_the_length_that_is_claimed() -> None:
    reader = FrameReader(100_000_000)
    feed(reader, (100_000_000).to_bytes(4, "big") + b"x" * 1_000, 5_000)
    assert reader.is_inside_frame
    assert len(reader.buffer()) < 200_000


@pytest.mark.parametrize(
    ("first", "hint"),
    [
        (b"\xff\xff\xff\xff", "a frame of -1 bytes"),
        (b"\x80\x00\x00\x00", "a frame of -2147483648 bytes"),
        (b"\x00\x00\x00\x00", "a frame of 0 bytes"),
        ((LIMIT + 1).to_bytes(4, "big"), "1 to 10000000 are allowed"),
        (b"\x16\x03\x01\x02", "first bytes of TLS"),
        (b"GET / HTTP/1.1", "first bytes of HTTP"),
    ],
)
def test_length_that_cannot_be_is_refused_with_a_hint(first: bytes, hint: str) -> None:
    for piece_bytes in (1, 4, 100):
        reader = FrameReader(LIMIT)
        assert feed(reader, on_wire(b"before") + first, piece_bytes) == [b"before"]
        assert hint in (reader.fault or "")


def test_largest_frame_is_taken() -> None:
    frame = b"x" * 1_000_000
    assert feed(FrameReader(1_000_000), on_wire(frame), SHARED_BUFFER_BYTES) == [frame]
