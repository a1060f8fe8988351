"""One client's connection: a thin shell around a socket, `frames.FrameReader` and `outbox.Outbox`.

Requests are handed to a dispatcher in the order in which they arrive. A reply may be ready at once or later; replies
leave in the order of the requests, and those to requests that arrived together leave together. Reading stops while the
client does not read its replies, or has too many requests under way, and goes on when that is over.

The loop tells when the socket can be read or written; there is no transport in between, since a part of a file can only
be sent by who holds the socket.
"""

import asyncio
import contextlib
import logging
import socket
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol, TypeAlias

from kafkish.deferred import Deferred
from kafkish.network.frames import FrameReader
from kafkish.network.outbox import Outbox, Piece
from kafkish.network.pace import Pace

MAX_REQUESTS_UNDER_WAY: Final = 128

log = logging.getLogger("kafkish.network")

Address: TypeAlias = tuple[str, int]
Reply: TypeAlias = list[Piece] | None
"""The pieces of a reply, its length first; None if the request has none (Produce with acks=0)."""


class Patience(NamedTuple):
    """How long a peer may be silent, stop in the middle of a request, and not read its replies."""

    idle_s: float = 600.0
    request_s: float = 30.0
    reply_s: float = 60.0  # longer: the system takes bytes from us in large steps


class CloseConnection(Exception):  # not an error of ours: the peer's fault, answered as Kafka does
    """The request cannot be answered; Kafka closes the connection, and so do we."""


class Dispatcher(Protocol):
    """Turns a frame into a reply; raises `CloseConnection` if there is none to give."""

    def __call__(self, frame: bytes | bytearray, connection: "Connection", /) -> Reply | Deferred[Reply]: ...


class Connection:
    """Serves a socket from `start` until it is closed, by either side."""

    __slots__ = (
        "_dispatch", "_frames", "_is_closed", "_is_handling", "_is_reading", "_is_writing", "_loop", "_on_close",
        "_outbox", "_reading_pace", "_replies", "_socket", "_writing_pace", "last_active_s", "local", "peer",
    )  # fmt: skip

    def __init__(
        self,
        accepted: socket.socket,
        dispatch: Dispatcher,
        max_frame_bytes: int,
        *,
        peer: Address = ("", 0),
        local: Address = ("", 0),
        on_close: Callable[["Connection"], object] = lambda _: None,
    ) -> None:
        self.peer = peer
        self.local = local
        self.last_active_s = 0.0
        self._socket = accepted
        self._dispatch = dispatch
        self._on_close = on_close
        self._loop = asyncio.get_running_loop()
        self._frames = FrameReader(max_frame_bytes)
        self._outbox = Outbox(accepted)
        self._replies: deque[Deferred[Reply]] = deque()  # of requests under way, in order
        self._is_reading = self._is_writing = self._is_handling = self._is_closed = False
        self._reading_pace = Pace()
        self._writing_pace = Pace()

    def start(self) -> None:
        """Begin to read."""
        self.last_active_s = self._loop.time()
        self._adjust_reading()

    @property
    def requests_under_way(self) -> int:
        """Requests that have no reply yet."""
        return len(self._replies)

    def close(self, reason: str) -> None:
        """Send what is ready and can be sent, and close. One line in the log says why."""
        if self._is_closed:
            return
        self._is_closed = True
        log.info("closing %s:%d: %s", *self.peer, reason)
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        with contextlib.suppress(OSError):
            self._outbox.flush()
        self._socket.close()
        abandoned, self._replies = self._replies, deque()
        for reply in abandoned:
            reply.abandon()
        self._on_close(self)

    def check(self, now_s: float, patience: Patience) -> None:
        """Close if the peer has been silent for too long, or does not go on with what it began. Asked now and then."""
        frames, outbox = self._frames, self._outbox
        unfinished = frames.count if frames.is_inside_frame else None
        if self._reading_pace.is_too_slow(frames.total_bytes, unfinished, now_s, patience.request_s):
            self.close(f"a frame was not complete after {now_s - self.last_active_s:.0f} s")
        elif self._writing_pace.is_too_slow(
            outbox.sent_bytes, 0 if self._is_writing else None, now_s, patience.reply_s
        ):
            self.close("the client did not read its replies")
        elif self.last_active_s < now_s - patience.idle_s and not self._replies:
            self.close(f"nothing came for {patience.idle_s:.0f} s")

    # -- requests

    def _on_readable(self) -> None:
        try:
            count = self._socket.recv_into(self._frames.buffer())
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self.close(str(error))
            return
        if not count:
            self.close("the client is gone")
            return
        self.last_active_s = self._loop.time()
        self._is_handling = True
        try:
            for frame in self._frames.received(count):
                self._handle(frame)
                if self._is_closed:
                    return
        except CloseConnection as reason:
            self.close(str(reason))
            return
        except Exception:
            log.exception("a request of %s:%d failed", *self.peer)
            self.close("the request failed")
            return
        finally:
            self._is_handling = False
        if self._frames.fault is not None:
            self.close(self._frames.fault)
        else:
            self._flush()

    def _handle(self, frame: bytes | bytearray) -> None:
        outcome = self._dispatch(frame, self)
        if isinstance(outcome, Deferred):
            self._replies.append(outcome)
            outcome.on_done(self._send_ready)
        elif self._replies:
            self._replies.append(Deferred.of(outcome))
        elif outcome is not None:
            self._outbox.put(outcome)  # nothing to wait for: the common case

    # -- replies

    def _send_ready(self, _: object = None) -> None:
        """Send the replies that are ready and have none before them that is not."""
        while self._replies and self._replies[0].is_done and not self._is_writing:
            try:
                reply = self._replies.popleft().result()
            except CloseConnection as reason:
                self.close(str(reason))
                return
            if reply is not None:
                self._outbox.put(reply)
        if not self._is_handling:
            self._flush()

    def _flush(self) -> None:
        """Send, and go on when the socket takes more if it does not take all now."""
        if self._is_closed:
            return
        try:
            is_writing = not self._outbox.flush()
        except OSError as error:
            self.close(f"a reply cannot be sent: {error}")
            return
        if is_writing is not self._is_writing:
            self._is_writing = is_writing
            if is_writing:
                self._loop.add_writer(self._socket, self._on_writable)
            else:
                self._loop.remove_writer(self._socket)
        self._adjust_reading()

    def _on_writable(self) -> None:
        self._flush()
        if not self._is_writing:
            self._send_ready()

    def _adjust_reading(self) -> None:
        is_reading = not self._is_writing and len(self._replies) < MAX_REQUESTS_UNDER_WAY
        if is_reading is self._is_reading:
            return
        self._is_reading = is_reading
        if is_reading:
            self._loop.add_reader(self._socket, self._on_readable)
        else:
            self._loop.remove_reader(self._socket)
