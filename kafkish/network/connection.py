"""One client's connection: a thin asyncio shell around `frames.FrameReader`.

Requests are handed to a dispatcher in the order in which they arrive. A reply may be ready at once or later; replies
leave in the order of the requests. Reading stops while the client does not read its replies, or has too many requests
under way, and goes on when that is over.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeAlias, cast

from kafkish.network.frames import FrameError, FrameReader

Reply: TypeAlias = list[bytes | bytearray | memoryview] | None
"""The pieces of a reply, its length first; None if the request has none (Produce with acks=0)."""

MAX_REQUESTS_UNDER_WAY: Final = 128
FRAME_DEADLINE_S: Final = 30.0

log = logging.getLogger("kafkish.network")


class CloseConnection(Exception):  # not an error of ours: the peer's fault, answered as Kafka does
    """The request cannot be answered; Kafka closes the connection, and so do we."""


class Dispatcher(Protocol):
    """Turns a frame into a reply; raises `CloseConnection` if there is none to give."""

    def __call__(self, frame: bytes | bytearray, connection: "Connection", /) -> Reply | Awaitable[Reply]: ...


class Connection(asyncio.BufferedProtocol):
    """The protocol object that asyncio drives."""

    def __init__(
        self, dispatch: Dispatcher, max_frame_bytes: int, on_close: Callable[["Connection"], object] = lambda _: None
    ) -> None:
        self._dispatch = dispatch
        self._frames = FrameReader(max_frame_bytes)
        self._on_close = on_close
        self._transport: asyncio.Transport
        self._loop: asyncio.AbstractEventLoop
        self._replies: deque[asyncio.Future[Reply]] = deque()  # of requests under way, in order
        self._client_reads = True
        self._reading = True
        self._deadline: asyncio.TimerHandle | None = None
        self.peer = ""
        self.local: tuple[str, int] = ("", 0)

    # -- called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._loop = asyncio.get_running_loop()
        peer = transport.get_extra_info("peername") or ("?", 0)
        self.peer = f"{peer[0]}:{peer[1]}"
        self.local = (transport.get_extra_info("sockname") or ("", 0))[:2]

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002
        return self._frames.buffer()

    def buffer_updated(self, nbytes: int) -> None:
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
        self._adjust_reading()

    def resume_writing(self) -> None:
        self._client_reads = True
        self._adjust_reading()

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        self._cancel_deadline()
        for reply in self._replies:
            reply.cancel()
        self._replies.clear()
        self._on_close(self)

    # -- requests and replies

    def close(self, reason: str) -> None:
        """Close because of what the peer sent. One line in the log says why."""
        log.info("closing %s: %s", self.peer, reason)
        self._transport.abort()

    def _handle(self, frame: bytes | bytearray) -> None:
        outcome = self._dispatch(frame, self)
        if not isinstance(outcome, Awaitable) and not self._replies:
            self._write(outcome)  # nothing to wait for: the common case
            return
        reply: asyncio.Future[Reply]
        if isinstance(outcome, Awaitable):
            reply = asyncio.ensure_future(outcome, loop=self._loop)
        else:
            reply = self._loop.create_future()
            reply.set_result(outcome)
        self._replies.append(reply)
        reply.add_done_callback(self._send_ready)

    def _send_ready(self, _: object) -> None:
        """Send the replies that are ready and have none before them that is not."""
        while self._replies and self._replies[0].done():
            reply = self._replies.popleft()
            if reply.cancelled():
                continue
            error = reply.exception()
            if error is not None:
                self.close(str(error) or repr(error))
                return
            self._write(reply.result())
        self._adjust_reading()

    def _write(self, reply: Reply) -> None:
        if reply is not None and not self._transport.is_closing():
            self._transport.writelines(reply)

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
        """A peer that begins a frame must end it in time; between frames it may be silent."""
        if not self._frames.is_inside_frame:
            self._cancel_deadline()
        elif self._deadline is None:
            reason = f"a frame was not complete after {FRAME_DEADLINE_S:.0f} s"
            self._deadline = self._loop.call_later(FRAME_DEADLINE_S, self.close, reason)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
