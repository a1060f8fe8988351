"""A bound address: accepts connections within limits, closes those that have been idle for too long."""

import asyncio
import socket
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from kafkish.network.connection import Connection, Dispatcher

_SWEEP_S: Final = 10


class ListenError(Exception):
    """The address cannot be used; the text says which and why."""


class Limits(NamedTuple):
    """What one listener takes."""

    max_frame_bytes: int
    max_connections: int
    max_connections_per_ip: int
    max_connections_of_ip: dict[str, int] = {}
    idle_ms: int = 600_000
    backlog: int = 1024


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
        self._limits = limits
        self._connections: set[Connection] = set()
        self._of_ip: Counter[str] = Counter()
        self._server: asyncio.Server | None = None
        self._sweep: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._connections)

    def __iter__(self) -> Iterator[Connection]:
        return iter(self._connections)

    async def start(self) -> None:
        """Accept connections."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, sock=self._bound, backlog=self._limits.backlog)
        self._sweep = loop.call_later(_SWEEP_S, self._close_idle)

    def stop_accepting(self) -> None:
        """Accept nobody any more; who is there stays."""
        if self._server is not None:
            self._server.close()
        else:
            self._bound.close()
        if self._sweep is not None:
            self._sweep.cancel()

    def close_all(self, reason: str) -> None:
        """Close every connection."""
        for connection in list(self._connections):
            connection.close(reason)

    def _connect(self) -> Connection:
        return Connection(self._dispatch, self._limits.max_frame_bytes, self._admit, self._forget)

    def _admit(self, connection: Connection) -> str | None:
        """Why a connection cannot be, if so."""
        ip, limits = connection.peer[0], self._limits
        self._connections.add(connection)
        self._of_ip[ip] += 1
        if len(self._connections) > limits.max_connections:
            return f"there are {limits.max_connections} connections, and max.connections allows no more"
        most = limits.max_connections_of_ip.get(ip, limits.max_connections_per_ip)
        if self._of_ip[ip] > most:
            return f"{ip} has {most} connections, and max.connections.per.ip allows no more"
        return None

    def _forget(self, connection: Connection) -> None:
        self._connections.discard(connection)
        ip = connection.peer[0]
        self._of_ip[ip] -= 1
        if not self._of_ip[ip]:
            del self._of_ip[ip]

    def _close_idle(self) -> None:
        loop = asyncio.get_running_loop()
        self._sweep = loop.call_later(_SWEEP_S, self._close_idle)
        since_s = loop.time() - self._limits.idle_ms / 1000
        for connection in [each for each in self._connections if each.is_idle_since(since_s)]:
            connection.close(f"nothing came for {self._limits.idle_ms} ms")
