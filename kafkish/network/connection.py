"""One client's connection: a thin asyncio shell around `frames.FrameReader`.

Requests are handed to a dispatcher in the order in which they arrive. A reply may be ready at once or later; replies
leave in the order of the requests. Reading stops while the client does not read its replies, or has too many requests
under way, and goes on when that is over. Parts of files in a reply are read when it is their turn to be sent, so that
a client that does not read costs no memory.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol, TypeAlias, cast

from kafkish.deferred import Deferred
from kafkish.network.frames import FrameError, FrameReader

MAX_REQUESTS_UNDER_WAY: Final = 128
FRAME_DEADLINE_S: Final = 30.0
MIN_FRAME_BYTES_PER_S: Final = 1024
WRITE_DEADLINE_S: Final = 60.0

log = logging.getLogger("kafkish.network")


class FilePart(Protocol):
    """Bytes of a reply that are still in a file."""

    def __len__(self) -> int: ...
    def read(self) -> bytes: ...


Piece: TypeAlias = bytes | bytearray | memoryview | FilePart
Reply: TypeAlias = list[Piece] | None
"""The pieces of a reply, its length first; None if the request has none (Produce with acks=0)."""


class CloseConnection(Exception):  # not an error of ours: the peer's fault, answered as Kafka does
    """The request cannot be answered; Kafka closes the connection, and so do we."""


class Dispatcher(Protocol):
    """Turns a frame into a reply; raises `CloseConnection` if there is none to give."""

    def __call__(self, frame: bytes | bytearray, connection: "Connection", /) -> Reply | Deferred[Reply]: ...


class _Deadline:
    """A timer that can be started once at a time, and stopped."""

    __slots__ = ("_handle",)

    def __init__(self) -> None:
        self._handle: asyncio.TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        return self._handle is not None

    def start(
        self, loop: asyncio.AbstractEventLoop, delay_s: float, action: Callable[..., object], *args: object
    ) -> None:
        self.stop()
        self._handle = loop.call_later(delay_s, self._run, action, args)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _run(self, action: Callable[..., object], args: tuple[object, ...]) -> None:
        self._handle = None
        action(*args)


class Connection(asyncio.BufferedProtocol):
    """The protocol object that asyncio drives."""

    def __init__(
        self,
        dispatch: Dispatcher,
        max_frame_bytes: int,
        admit: Callable[["Connection"], str | None] = lambda _: None,
        on_close: Callable[["Connection"], object] = lambda _: None,
    ) -> None:
        """`admit` is asked first, and may say why this connection cannot be."""
        self._dispatch = dispatch
        self._frames = FrameReader(max_frame_bytes)
        self._admit = admit
        self._on_close = on_close
        self._transport: asyncio.Transport
        self._loop: asyncio.AbstractEventLoop
        self._replies: deque[Deferred[Reply]] = deque()  # of requests under way, in order
        self._client_reads = True
        self._reading = True
        self._frame_deadline = _Deadline()
        self._write_deadline = _Deadline()
        self.peer: tuple[str, int] = ("", 0)
        self.local: tuple[str, int] = ("", 0)
        self.last_active_s = 0.0

    # -- called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._loop = asyncio.get_running_loop()
        self.peer = (transport.get_extra_info("peername") or ("", 0))[:2]
        self.local = (transport.get_extra_info("sockname") or ("", 0))[:2]
        self.last_active_s = self._loop.time()
        refusal = self._admit(self)
        if refusal is not None:
            self.close(refusal)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002
        return self._frames.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        self.last_active_s = self._loop.time()
        try:
            for frame in self._frames.received(nbytes):
                self._handle(frame)
        except (FrameError, CloseConnection) as reason:
            self.close(str(reason))
            return
        self._watch_frame()
        self._adjust_reading()

    def eof_received(self) -> bool:
        return False  # asyncio closes the transport

    def pause_writing(self) -> None:
        self._client_reads = False
        reason = f"the client did not read its replies for {WRITE_DEADLINE_S:.0f} s"
        self._write_deadline.start(self._loop, WRITE_DEADLINE_S, self.close, reason)
        self._adjust_reading()

    def resume_writing(self) -> None:
        self._client_reads = True
        self._write_deadline.stop()
        self._send_ready()

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        self._frame_deadline.stop()
        self._write_deadline.stop()
        abandoned, self._replies = self._replies, deque()
        for reply in abandoned:
            reply.abandon()
        self._on_close(self)

    # -- requests and replies

    def is_idle_since(self, moment_s: float) -> bool:
        """Whether nothing has come since a moment of the loop's time, and nothing is under way."""
        return self.last_active_s < moment_s and not self._replies

    @property
    def requests_under_way(self) -> int:
        """Requests that have no reply yet."""
        return len(self._replies)

    def close(self, reason: str) -> None:
        """Close because of what the peer did. One line in the log says why."""
        log.info("closing %s:%d: %s", *self.peer, reason)
        self._transport.abort()

    def _handle(self, frame: bytes | bytearray) -> None:
        outcome = self._dispatch(frame, self)
        if isinstance(outcome, Deferred):
            self._replies.append(outcome)
            outcome.on_done(self._send_ready)
        elif self._replies or not self._client_reads:
            self._replies.append(Deferred.of(outcome))
        else:
            self._write(outcome)  # nothing to wait for: the common case

    def _send_ready(self, _: object = None) -> None:
        """Send the replies that are ready and have none before them that is not."""
        while self._client_reads and self._replies and self._replies[0].is_done:
            try:
                reply = self._replies.popleft().result()
            except CloseConnection as reason:
                self.close(str(reason))
                return
            self._write(reply)
        self._adjust_reading()

    def _write(self, reply: Reply) -> None:
        if reply is None or self._transport.is_closing():
            return
        try:
            pieces = [piece if isinstance(piece, bytes | bytearray | memoryview) else piece.read() for piece in reply]
        except OSError as error:
            self.close(f"a part of the reply cannot be read: {error}")
            return
        self._transport.writelines(pieces)

    # -- back-pressure and deadlines

    def _adjust_reading(self) -> None:
        reading = self._client_reads and len(self._replies) < MAX_REQUESTS_UNDER_WAY
        if reading == self._reading or self._transport.is_closing():
            return
        self._reading = reading
        if reading:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def _watch_frame(self) -> None:
        """A peer that begins a frame must go on with it; between frames it may be silent."""
        if not self._frames.is_inside_frame:
            self._frame_deadline.stop()
        elif not self._frame_deadline.is_running:
            self._frame_deadline.start(self._loop, FRAME_DEADLINE_S, self._check_frame, self._frames.total_bytes)

    def _check_frame(self, total_bytes_before: int) -> None:
        if self._frames.total_bytes - total_bytes_before < MIN_FRAME_BYTES_PER_S * FRAME_DEADLINE_S:
            self.close(f"a frame was not complete after {FRAME_DEADLINE_S:.0f} s and its bytes came too slowly")
            return
        self._watch_frame()
