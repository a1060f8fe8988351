"""Cuts a stream of bytes into frames: four bytes of length, then that many bytes.

A pure core for `connection.Connection`: it says where the next bytes are to be written, is told how many came, and
gives back the frames that are complete. Nothing is allocated for a frame before its bytes arrive.

- Bytes arrive in one buffer that all connections of a process share: it is theirs only between `buffer` and
  `received`, which nothing can come between.
- A frame that is whole in that buffer is copied out of it; most are small.
- A frame that is not, gets a bytearray of its own that doubles as it fills, up to the frame's size; the rest of its
  bytes are read into it directly.
"""

from collections.abc import Iterator
from typing import Final

SHARED_BUFFER_BYTES: Final = 256 * 1024
_FIRST_GROWTH_BYTES: Final = 64 * 1024

_shared: Final = memoryview(bytearray(SHARED_BUFFER_BYTES))


class FrameError(Exception):
    """The peer does not speak Kafka's framing; the only answer is to close."""


class FrameReader:
    """The read side of one connection."""

    def __init__(self, max_frame_bytes: int) -> None:
        self.max_frame_bytes = max_frame_bytes
        self._length = bytearray()  # the part of a length that has arrived
        self._frame: bytearray | None = None  # the frame that is being filled
        self._frame_bytes = 0  # how long it will be
        self._filled_bytes = 0  # how much of it is here
        self.total_bytes = 0  # everything that ever arrived
        self.count = 0  # frames that were cut out of it

    @property
    def is_inside_frame(self) -> bool:
        """Whether a frame has begun and not ended: the peer owes the rest."""
        return self._frame is not None or bool(self._length)

    def buffer(self) -> memoryview:
        """Where the next bytes are to be written."""
        if self._frame is None:
            return _shared
        if self._filled_bytes == len(self._frame):
            self._frame = self._grown(self._frame)
        return memoryview(self._frame)[self._filled_bytes :]

    def received(self, count: int) -> Iterator[bytes | bytearray]:
        """This many bytes were written into the last `buffer`; yields the frames that they complete."""
        self.total_bytes += count
        if self._frame is None:
            yield from self._cut(_shared[:count])
            return
        self._filled_bytes += count
        if self._filled_bytes == self._frame_bytes:
            frame, self._frame = self._frame, None
            self.count += 1
            yield frame

    def _cut(self, data: memoryview) -> Iterator[bytes]:
        position, end = 0, len(data)
        while position < end:
            if self._length or end - position < 4:
                position = self._take_length_bytes(data, position)
                if len(self._length) < 4:
                    return
                frame_bytes = int.from_bytes(self._length, "big", signed=True)
                self._length.clear()
            else:
                frame_bytes = int.from_bytes(data[position : position + 4], "big", signed=True)
                position += 4
            self._check(frame_bytes)
            stop = position + frame_bytes
            if stop > end:
                self._begin(data[position:], frame_bytes)
                return
            self.count += 1
            yield bytes(data[position:stop])
            position = stop

    def _take_length_bytes(self, data: memoryview, position: int) -> int:
        wanted = 4 - len(self._length)
        self._length += data[position : position + wanted]
        return min(position + wanted, len(data))

    def _check(self, frame_bytes: int) -> None:
        if 0 < frame_bytes <= self.max_frame_bytes:
            return
        first = frame_bytes.to_bytes(4, "big", signed=True)
        if first[:2] == b"\x16\x03":
            hint = "; these are the first bytes of TLS, and this listener is not encrypted"
        elif first in (b"GET ", b"POST", b"PUT ", b"HEAD", b"OPTI", b"DELE"):
            hint = "; these are the first bytes of HTTP, and this port speaks Kafka"
        else:
            hint = ""
        raise FrameError(f"a frame of {frame_bytes} bytes, where 1 to {self.max_frame_bytes} are allowed{hint}")

    def _begin(self, first: memoryview, frame_bytes: int) -> None:
        """The shared buffer holds only the first part of this frame."""
        self._frame = bytearray(min(frame_bytes, max(_FIRST_GROWTH_BYTES, 2 * len(first))))
        self._frame[: len(first)] = first
        self._frame_bytes, self._filled_bytes = frame_bytes, len(first)

    def _grown(self, frame: bytearray) -> bytearray:
        """A larger one with the same bytes; the old one cannot be resized while someone holds a view of it."""
        larger = bytearray(min(2 * len(frame), self._frame_bytes))
        larger[: len(frame)] = frame
        return larger
