"""Connections to both brokers. A lane is one connection to each; a request that has no answer yet keeps its lane."""

import select
import socket
from collections.abc import Iterable
from itertools import count
from typing import Any, Final, NamedTuple

from kafkish import clock
from kafkish.diff.script import Step, frame
from kafkish.diff.symbols import OURS, THEIRS, Symbols
from kafkish_protocol.api import ApiKey, response_class, response_header_version
from kafkish_protocol.errors import CodecError, Malformed
from kafkish_protocol.messages.api_versions import ApiVersionsRequest
from kafkish_protocol.messages.headers import ResponseHeader
from kafkish_protocol.schema import Request

PATIENCE_S: Final = 20.0
"""How long one broker may be silent when the other has answered."""
REST_S: Final = 4.0
"""The same, of a request that may have waited for others: what made one broker answer was seen by both."""
STILL_S: Final = 0.4
"""When both are silent for so long, the request waits for others, as a JoinGroup does."""
MAX_REPLY_BYTES: Final = 64 << 20
MAY_WAIT: Final = (ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP)


class Closed(NamedTuple):
    """A broker closed the connection."""

    because: str = "the connection was closed"


class Silence(NamedTuple):
    """A broker did not answer."""

    because: str = "no answer"


class Connection:
    """One connection to one broker, opened when it is needed."""

    def __init__(self, host: str, port: int) -> None:
        self._address = host, port
        self._socket: socket.socket | None = None
        self._correlation_ids = count(1)

    def send(self, step: Step, request: Request) -> None:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=PATIENCE_S)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._socket.sendall(frame(step, request, next(self._correlation_ids)))
        except OSError:
            return  # what the broker did will be seen where its answer is read

    def is_answered(self, timeout_s: float) -> bool:
        """Whether there is something to read, or the connection is closed."""
        return self._socket is None or bool(select.select([self._socket], [], [], timeout_s)[0])

    def receive(self, step: Step) -> Any:
        """The decoded response, or what came instead."""
        if not self.is_answered(REST_S if step.key in MAY_WAIT else PATIENCE_S):
            self.close()
            return Silence()
        try:
            return decoded(step, self._read(int.from_bytes(self._read(4), "big")))
        except (OSError, AssertionError):
            self.close()
            return Closed()

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    def _read(self, size_bytes: int) -> bytes:
        assert self._socket is not None
        assert size_bytes <= MAX_REPLY_BYTES
        parts = bytearray()
        while len(parts) < size_bytes:
            part = self._socket.recv(size_bytes - len(parts))
            if not part:
                raise ConnectionError
            parts += part
        return bytes(parts)


def decoded(step: Step, data: bytes) -> Any:
    """A reply as a message. ApiVersions answers a version that it does not know in version 0 (KIP-511)."""
    key, version = step.key, step.version
    if key is ApiKey.API_VERSIONS and step.damage.version is not None:
        version = 0
    try:
        _, start = ResponseHeader.schema.decoders[response_header_version(key, version)](data)
        return response_class(key).decode(data, version, start)
    except (CodecError, Malformed, IndexError) as error:
        return f"not a response of {key.title} v{version}: {error}"


class Lane:
    """A connection to each broker, and the request that waits on it."""

    def __init__(self, number: int, connections: tuple[Connection, Connection]) -> None:
        self.number = number
        self.connections = connections
        self.waiting: Step | None = None

    def send(self, step: Step, symbols: Symbols) -> None:
        for side in (OURS, THEIRS):
            self.connections[side].send(step, symbols.for_broker(side, step.request))
            if is_unanswered(step):  # the reply to what follows tells whether the connection was closed
                flush = Step(step.lane, ApiVersionsRequest(), 0)
                self.connections[side].send(flush, flush.request)
        self.waiting = step

    def replies(self, patience_s: float) -> tuple[Any, Any] | None:
        """Both replies; None while both brokers are silent."""
        step = self.waiting
        assert step is not None
        deadline = clock.monotonic_s() + patience_s
        ours, theirs = self.connections
        while not theirs.is_answered(0.002) and not ours.is_answered(0):
            if clock.monotonic_s() > deadline:
                return None
        self.waiting = None
        read = Step(step.lane, ApiVersionsRequest(), 0) if is_unanswered(step) else step
        return ours.receive(read), theirs.receive(read)

    def close(self) -> None:
        self.waiting = None
        for connection in self.connections:
            connection.close()


def is_unanswered(step: Step) -> bool:
    """Whether the protocol has no reply for it: a Produce that wants no acknowledgement."""
    return step.key is ApiKey.PRODUCE and getattr(step.request, "acks", None) == 0


class Exchange:
    """All lanes."""

    def __init__(self, ours: tuple[str, int], theirs: tuple[str, int], symbols: Symbols) -> None:
        self._addresses = ours, theirs
        self._symbols = symbols
        self.lanes: dict[int, Lane] = {}

    def send(self, step: Step) -> tuple[Any, Any] | None:
        """Send a request to both; their replies, or None if both wait for something else to happen."""
        lane = self.lanes.get(step.lane)
        if lane is None:
            ours, theirs = self._addresses
            lane = self.lanes[step.lane] = Lane(step.lane, (Connection(*ours), Connection(*theirs)))
        lane.send(step, self._symbols)
        return lane.replies(STILL_S if step.key in MAY_WAIT else PATIENCE_S) or self._give_up(lane)

    def _give_up(self, lane: Lane) -> tuple[Any, Any] | None:
        assert lane.waiting is not None
        if lane.waiting.key in MAY_WAIT:
            return None
        lane.close()
        return Silence(), Silence()

    def answered_late(self, patience_s: float) -> list[tuple[Step, tuple[Any, Any]]]:
        """The requests that were waiting and have now been answered."""
        done = []
        for lane in self.lanes.values():
            step = lane.waiting
            if step is not None and (replies := lane.replies(patience_s)) is not None:
                done.append((step, replies))
        return done

    def waiting(self) -> set[int]:
        """The lanes that cannot take a request now."""
        return {number for number, lane in self.lanes.items() if lane.waiting is not None}

    def drop(self, numbers: Iterable[int]) -> None:
        """Close lanes that are not used any more."""
        for number in numbers:
            self.lanes.pop(number).close()

    def close(self) -> None:
        for lane in self.lanes.values():
            lane.close()
