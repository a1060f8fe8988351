"""A broker put together: listener, dispatch and handlers, on one page."""

import asyncio
from dataclasses import dataclass
from typing import Final

from kafkish.dispatch import Dispatch
from kafkish.handlers import api_versions, metadata  # noqa: F401  # importing a handler registers it
from kafkish.handlers.registry import REGISTRY, Node
from kafkish.network.connection import Connection

MAX_FRAME_BYTES: Final = 104_857_600
"""Kafka's default for `socket.request.max.bytes`."""


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port; port 0 lets the system choose."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Broker:
    """One node, listening from `start` to `stop`."""

    def __init__(self, listen: Address, node: Node) -> None:
        self._listen = listen
        self._server: asyncio.Server
        self._connections: set[Connection] = set()
        self._dispatch = Dispatch(REGISTRY, node)

    async def start(self) -> Address:
        """Bind, and return the address that clients can use."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, self._listen.host, self._listen.port, backlog=1024)
        host, port = self._server.sockets[0].getsockname()[:2]
        return Address(host, port)

    async def stop(self) -> None:
        """Stop listening and close every connection."""
        self._server.close()
        for connection in list(self._connections):
            connection.close("the broker stops")
        await self._server.wait_closed()

    def _connect(self) -> Connection:
        connection = Connection(self._dispatch, MAX_FRAME_BYTES, self._connections.discard)
        self._connections.add(connection)
        return connection
