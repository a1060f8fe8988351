"""What waits to be sent on one socket, and how it is sent.

Bytes go out in as few system calls as they can. Parts of files go from the page cache to the socket and never pass
through this process, except for parts so small that copying them beside other bytes is cheaper. Nothing of a file is
touched before it is its turn, so a client that does not read costs no memory.
"""

import os
import socket
from collections import deque
from collections.abc import Iterable
from typing import Final, Protocol, TypeAlias

SMALL_PART_BYTES: Final = 16 * 1024
_MOST_PIECES: Final = 64  # at a time
_MOST_BYTES: Final = 256 * 1024
_MORE_FOLLOWS: Final = getattr(socket, "MSG_MORE", 0)  # Linux: keep the packet open for the file that comes next


class FilePart(Protocol):
    """Bytes of a reply that are still in a file, which it holds open."""

    @property
    def position(self) -> int: ...
    def __len__(self) -> int: ...
    def fileno(self) -> int: ...
    def read(self) -> bytes: ...


Bytes: TypeAlias = bytes | bytearray | memoryview
_BYTES: Final = (bytes, bytearray, memoryview)
Piece: TypeAlias = Bytes | FilePart


class Outbox:
    """The pieces that a socket has not taken yet."""

    __slots__ = ("_file_sent_bytes", "_pieces", "_socket", "sent_bytes")

    def __init__(self, to: socket.socket) -> None:
        self._socket = to
        self._pieces: deque[Piece] = deque()
        self._file_sent_bytes = 0  # of the first piece, where that is in a file
        self.sent_bytes = 0

    def put(self, pieces: Iterable[Piece]) -> None:
        """Send these after all that waits."""
        self._pieces.extend(pieces)

    def flush(self) -> bool:
        """Send what the socket takes now; whether that was all.

        Raises OSError if it takes no more for good, or a file cannot be read.
        """
        pieces = self._pieces
        try:
            while pieces:
                first = pieces[0]
                if len(pieces) == 1 and isinstance(first, _BYTES):
                    self._sent(self._socket.send(first), [first])  # the common case
                elif isinstance(first, _BYTES) or len(first) <= SMALL_PART_BYTES:
                    self._send_run()
                else:
                    self._send_file(first)
        except (BlockingIOError, InterruptedError):
            return False
        return True

    def _send_run(self) -> None:
        run, is_before_file = self._run()
        self._sent(self._socket.sendmsg(run, (), _MORE_FOLLOWS if is_before_file else 0), run)

    def _sent(self, count: int, run: list[Bytes]) -> None:
        """So many bytes of the first pieces are gone."""
        self.sent_bytes += count
        for piece in run:
            if count < len(piece):
                self._pieces[0] = memoryview(piece)[count:]
                return
            count -= len(piece)
            self._pieces.popleft()

    def _run(self) -> tuple[list[Bytes], bool]:
        """The bytes up to the next large part of a file, and whether there is one."""
        run: list[Bytes] = []
        size_bytes = 0
        for number, piece in enumerate(self._pieces):
            if len(run) == _MOST_PIECES or size_bytes >= _MOST_BYTES:
                break
            size_bytes += len(piece)
            if isinstance(piece, _BYTES):
                run.append(piece)
            elif len(piece) <= SMALL_PART_BYTES:
                self._pieces[number] = data = _whole(piece)
                run.append(data)
            else:
                return run, True
        return run, False

    def _send_file(self, part: FilePart) -> None:
        length, done_bytes = len(part), self._file_sent_bytes
        sent_bytes = os.sendfile(self._socket.fileno(), part.fileno(), part.position + done_bytes, length - done_bytes)
        if not sent_bytes:
            raise _too_short(part)
        self.sent_bytes += sent_bytes
        self._file_sent_bytes += sent_bytes
        if self._file_sent_bytes == length:
            self._pieces.popleft()
            self._file_sent_bytes = 0


def _whole(part: FilePart) -> bytes:
    data = part.read()
    if len(data) < len(part):
        raise _too_short(part)
    return data


def _too_short(part: FilePart) -> OSError:
    return OSError(f"a file ends before the {len(part)} bytes at {part.position} that were promised of it")
