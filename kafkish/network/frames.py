"""Cuts a stream of bytes into frames: four bytes of length, then that many bytes.

A pure core for `connection.Connection`: it says where the next bytes are to be written, is told how many came, and
gives back the frames that are complete. Nothing is allocated for a frame before its bytes arrive.

- Bytes arrive in one buffer that all connections of a process share: it is theirs only between `buffer` and
  `received`, which nothing can come between.
- A frame that is whole in that buffer is copied out of it; most are small.
- A frame that is not, gets a bytearray of its own that doubles as it fills, up to the frame's size; the rest of its
  bytes are read into it directly.
"""

import struct
from typing import Final

SHARED_BUFFER_BYTES: Final = 256 * 1024
_FIRST_GROWTH_BYTES: Final = 64 * 1024
_LENGTH: Final = struct.Struct(">i")

_shared: Final = memoryview(bytearray(SHARED_BUFFER_BYTES))


class FrameReader:
    """The read side of one connection."""

    __slots__ = (
        "_filled_bytes",
        "_frame",
        "_frame_bytes",
        "_length",
        "count",
        "fault",
        "max_frame_bytes",
        "total_bytes",
    )

    def __init__(self, max_frame_bytes: int) -> None:
        self.max_frame_bytes = max_frame_bytes
        self.fault: str | None = None
        """Why there will be no more frames: the peer does not speak Kafka's framing."""
        self._length = b""  # the part of a length that has arrived
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

    def received(self, count: int) -> list[bytes | bytearray]:
        """This many bytes were written into the last `buffer`; the frames that they complete."""
        self.total_bytes += count
        if self._frame is None:
            frames = self._cut(count)
        else:
            self._filled_bytes += count
            if self._filled_bytes < self._frame_bytes:
                return []
            frames = [self._frame]
            self._frame = None
        self.count += len(frames)
        return frames

    def _cut(self, end: int) -> list[bytes | bytearray]:
        """The frames in the shared buffer; what follows them is kept."""
        frames: list[bytes | bytearray] = []
        position = 0
        while position < end:
            if self._length or end - position < _LENGTH.size:
                wanted = _LENGTH.size - len(self._length)
                self._length += _shared[position : min(position + wanted, end)]
                position += wanted
                if len(self._length) < _LENGTH.size:
                    break
                [frame_bytes] = _LENGTH.unpack(self._length)
                self._length = b""
            else:
                [frame_bytes] = _LENGTH.unpack_from(_shared, position)
                position += _LENGTH.size
            if not 0 < frame_bytes <= self.max_frame_bytes:
                self.fault = self._fault(frame_bytes)
                break
            stop = position + frame_bytes
            if stop > end:
                self._begin(_shared[position:end], frame_bytes)
                break
            frames.append(bytes(_shared[position:stop]))
            position = stop
        return frames

    def _fault(self, frame_bytes: int) -> str:
        first = _LENGTH.pack(frame_bytes)
        if first[:2] == b"\x16\x03":
            hint = "; these are the first bytes of TLS, and this listener is not encrypted"
        elif first in (b"GET ", b"POST", b"PUT ", b"HEAD", b"OPTI", b"DELE"):
            hint = "; these are the first bytes of HTTP, and this port speaks Kafka"
        else:
            hint = ""
        return f"a frame of {frame_bytes} bytes, where 1 to {self.max_frame_bytes} are allowed{hint}"

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
