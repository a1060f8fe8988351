"""Which peers may be sent a request now: one at a time to each. A peer that is silent delays only what is for it."""

from collections.abc import Iterator
from typing import NamedTuple

from kafkish_raft.messages import Request
from kafkish_raft.ports import Dice, Settings
from kafkish_raft.voters import Endpoints, NodeId


class _Connection(NamedTuple):
    """A request under way until its deadline or, without a request, a rest until then."""

    deadline_ms: int
    request: Request | None = None
    correlation_id: int = 0


class Peers:
    """Requests under way and rests after failures, by peer. A peer that is not named is ready."""

    def __init__(self, settings: Settings, dice: Dice) -> None:
        self._settings = settings
        self._dice = dice
        self._servers = settings.asked_for_leader()
        self._connections: dict[NodeId, _Connection] = {}
        self._last_correlation_id = 0
        self._ask_again_ms: int | None = None

    def is_ready(self, node_id: NodeId) -> bool:
        return node_id not in self._connections

    def is_resting(self, node_id: NodeId) -> bool:
        return node_id in self._connections and self._connections[node_id].request is None

    def any_under_way(self) -> bool:
        return any(connection.request is not None for connection in self._connections.values())

    def server_to_ask(self, now_ms: int) -> tuple[NodeId, Endpoints] | None:
        """One of the nodes that may know the leader, by chance: one at a time, and not too often."""
        if not self._servers or self.any_under_way() or self._ask_again_ms is not None:
            return None
        self._ask_again_ms = now_ms + self._settings.retry_backoff_ms
        server = self._servers[self._dice(len(self._servers))]
        return server if self.is_ready(server[0]) else None

    def send(self, node_id: NodeId, request: Request, now_ms: int) -> int:
        """A request leaves now: its correlation id."""
        self._last_correlation_id += 1
        deadline_ms = now_ms + self._settings.request_timeout_ms
        self._connections[node_id] = _Connection(deadline_ms, request, self._last_correlation_id)
        return self._last_correlation_id

    def finish(self, node_id: NodeId, correlation_id: int) -> Request | None:
        """The request to which this is the answer. Late and double answers have none."""
        connection = self._connections.get(node_id)
        if connection is None or connection.request is None or connection.correlation_id != correlation_id:
            return None
        del self._connections[node_id]
        return connection.request

    def rest(self, node_id: NodeId, now_ms: int) -> None:
        """A request failed: leave the peer alone for a moment."""
        self._connections[node_id] = _Connection(now_ms + self._settings.retry_backoff_ms)

    def reset(self) -> None:
        """The role changed: answers to what was asked before no longer matter."""
        self._connections.clear()

    def expire(self, now_ms: int) -> None:
        """Requests without an answer have failed; peers that rested are ready."""
        if self._ask_again_ms is not None and self._ask_again_ms <= now_ms:
            self._ask_again_ms = None
        due = [item for item in self._connections.items() if item[1].deadline_ms <= now_ms]
        for node_id, connection in due:
            del self._connections[node_id]
            if connection.request is not None:
                self.rest(node_id, now_ms)

    def deadlines(self) -> Iterator[int]:
        yield from (connection.deadline_ms for connection in self._connections.values())
        if self._ask_again_ms is not None:
            yield self._ask_again_ms
