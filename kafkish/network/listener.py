"""A bound address: accepts connections within limits, and looks after them now and then."""

import asyncio
import errno
import logging
import socket
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from kafkish.network.connection import Connection, Dispatcher, Patience

_CHECK_S: Final = 10
_PAUSE_S: Final = 1
SYSTEM_CHOOSES: Final = -1
"""How large a connection's buffer is: it grows with what the connection can use."""
_ACCEPTED_AT_ONCE: Final = 100
_EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

log = logging.getLogger("kafkish.network")


class ListenError(Exception):
    """The address cannot be used; the text says which and why."""


class Limits(NamedTuple):
    """What one listener takes."""

    max_frame_bytes: int
    max_connections: int
    max_connections_per_ip: int
    max_connections_of_ip: dict[str, int] = {}
    max_accepted_per_s: int = 2**31 - 1
    patience: Patience = Patience()
    backlog: int = 1024
    send_buffer_bytes: int = SYSTEM_CHOOSES
    receive_buffer_bytes: int = SYSTEM_CHOOSES


def bind(host: str, port: int) -> socket.socket:
    """Take an address without accepting anyone yet. Port 0 lets the system choose; no host means every interface."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        reason = error.strerror or str(error)
        raise ListenError(f"cannot listen on {host or '*'}:{port}: {reason}. Choose another with --listen") from error
    return bound


class Listener:
    """Serves a bound socket from `start` to `stop`."""

    def __init__(self, bound: socket.socket, dispatch: Dispatcher, limits: Limits) -> None:
        self.address: tuple[str, int] = bound.getsockname()[:2]
        self._bound = bound
        self._dispatch = dispatch
        self.limits = limits  # may be replaced while it serves
        self._connections: set[Connection] = set()
        self._of_ip: Counter[str] = Counter()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._accepted = 0
        self._accepted_since_s = 0.0

    def __len__(self) -> int:
        return len(self._connections)

    def __iter__(self) -> Iterator[Connection]:
        return iter(self._connections)

    def start(self) -> None:
        """Accept connections."""
        self._loop = asyncio.get_running_loop()
        self._bound.setblocking(False)
        for option, size_bytes in (
            (socket.SO_SNDBUF, self.limits.send_buffer_bytes),
            (socket.SO_RCVBUF, self.limits.receive_buffer_bytes),
        ):
            if size_bytes != SYSTEM_CHOOSES:
                self._bound.setsockopt(socket.SOL_SOCKET, option, size_bytes)  # connections inherit it
        self._bound.listen(self.limits.backlog)
        self._accept_from_now_on()
        self._check_all()

    def stop_accepting(self) -> None:
        """Accept nobody any more; who is there stays."""
        for timer in self._timers.values():
            timer.cancel()
        if self._timers:
            self._loop.remove_reader(self._bound)
        self._bound.close()

    def close_all(self, reason: str) -> None:
        """Close every connection."""
        for connection in list(self._connections):
            connection.close(reason)

    # -- accepting

    def _accept_from_now_on(self) -> None:
        self._loop.add_reader(self._bound, self._accept)

    def _accept(self) -> None:
        for _ in range(_ACCEPTED_AT_ONCE):
            if self._is_too_fast():
                return
            try:
                accepted, peer = self._bound.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno in _EXHAUSTED:
                    why = f"for {_PAUSE_S} s: {error.strerror}"
                    log.error("no connection can be accepted on %s:%d %s", *self.address, why)
                    self._pause(_PAUSE_S)
                    return
                continue  # the client was gone before it was accepted
            self._accepted += 1
            try:
                self._admit(accepted, peer[:2])
            except OSError as error:
                log.info("%s:%d was gone at once: %s", *peer[:2], error)
                accepted.close()

    def _is_too_fast(self) -> bool:
        """Whether a second has brought as many connections as it may. The next come in the next second."""
        now_s = self._loop.time()
        if now_s - self._accepted_since_s >= 1:
            self._accepted, self._accepted_since_s = 0, now_s
        if self._accepted < self.limits.max_accepted_per_s:
            return False
        self._pause(self._accepted_since_s + 1 - now_s)
        return True

    def _pause(self, seconds: float) -> None:
        """Who waits to be accepted goes on waiting."""
        self._loop.remove_reader(self._bound)
        self._timers["pause"] = self._loop.call_later(seconds, self._accept_from_now_on)

    def _admit(self, accepted: socket.socket, peer: tuple[str, int]) -> None:
        refusal = self._refusal(peer[0])
        if refusal is not None:
            log.info("closing %s:%d: %s", *peer, refusal)
            accepted.close()
            return
        accepted.setblocking(False)
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(
            accepted,
            self._dispatch,
            self.limits.max_frame_bytes,
            peer=peer,
            local=accepted.getsockname()[:2],
            on_close=self._forget,
        )
        self._connections.add(connection)
        self._of_ip[peer[0]] += 1
        connection.start()

    def _refusal(self, ip: str) -> str | None:
        """Why a connection cannot be, if so."""
        limits = self.limits
        if len(self._connections) >= limits.max_connections:
            return f"there are {limits.max_connections} connections, and max.connections allows no more"
        most = limits.max_connections_of_ip.get(ip, limits.max_connections_per_ip)
        if self._of_ip[ip] >= most:
            return f"{ip} has {most} connections, and max.connections.per.ip allows no more"
        return None

    def _forget(self, connection: Connection) -> None:
        self._connections.discard(connection)
        ip = connection.peer[0]
        self._of_ip[ip] -= 1
        if not self._of_ip[ip]:
            del self._of_ip[ip]

    def _rest_s(self) -> float:
        """Not longer than anyone may be silent, but a rest all the same."""
        return max(0.1, min(_CHECK_S, *self.limits.patience))

    def _check_all(self) -> None:
        """Close who is idle, or does not go on with what it began."""
        self._timers["check"] = self._loop.call_later(self._rest_s(), self._check_all)
        now_s = self._loop.time()
        for connection in list(self._connections):
            connection.check(now_s, self.limits.patience)
