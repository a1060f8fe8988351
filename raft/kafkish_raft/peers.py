"""Which peers may be sent a request now.

One request at a time is under way to each peer. A peer that is silent or fails makes only requests to itself wait.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kafkish_raft.ports import Dice
from kafkish_raft.settings import Settings
from kafkish_raft.voters import Endpoints, NodeId


class _Connection(NamedTuple):
    """A request under way until its deadline or, without a correlation id, a rest until then."""

    correlation_id: int | None
    deadline_ms: int


class Peers:
    """Requests under way and rests after failures, by peer. A peer that is not named is ready."""

    __slots__ = ("_ask_again_ms", "_connections", "_dice", "_last_correlation_id", "_servers", "_settings")

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
        connection = self._connections.get(node_id)
        return connection is not None and connection.correlation_id is None

    def any_under_way(self) -> bool:
        return any(connection.correlation_id is not None for connection in self._connections.values())

    def server_to_ask(self, now_ms: int) -> tuple[NodeId, Endpoints] | None:
        """One of the nodes that may know the leader, by chance: one at a time, and not too often."""
        if not self._servers or self.any_under_way() or self._ask_again_ms is not None:
            return None
        self._ask_again_ms = now_ms + self._settings.retry_backoff_ms
        first = self._dice(len(self._servers))
        in_turn = self._servers[first:] + self._servers[:first]
        return next((server for server in in_turn if self.is_ready(server[0])), None)

    def send(self, node_id: NodeId, now_ms: int) -> int:
        """A request leaves now: its correlation id."""
        self._last_correlation_id += 1
        deadline_ms = now_ms + self._settings.request_timeout_ms
        self._connections[node_id] = _Connection(self._last_correlation_id, deadline_ms)
        return self._last_correlation_id

    def finish(self, node_id: NodeId, correlation_id: int) -> bool:
        """Whether this is the answer that was waited for. Late and double ones are not."""
        connection = self._connections.get(node_id)
        if connection is None or connection.correlation_id != correlation_id:
            return False
        del self._connections[node_id]
        return True

    def rest(self, node_id: NodeId, now_ms: int) -> None:
        """A request failed: leave the peer alone for a moment."""
        self._connections[node_id] = _Connection(None, now_ms + self._settings.retry_backoff_ms)

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
            if connection.correlation_id is not None:
                self.rest(node_id, now_ms)

    def deadlines(self) -> Iterator[int]:
        if self._ask_again_ms is not None:
            yield self._ask_again_ms
        yield from (connection.deadline_ms for connection in self._connections.values())
