"""A simulated world: one seed, a quorum, time, a network, and what befalls them."""

import heapq
from collections.abc import Callable
from typing import Any

from kafkish_raft import effects, events, messages
from kafkish_raft.ports import BOOTSTRAP_SNAPSHOT
from kafkish_raft.states import Leader
from kafkish_raft.tests.simulation.checker import Checker
from kafkish_raft.tests.simulation.dice import Dice
from kafkish_raft.tests.simulation.disk import Disk, Snapshot
from kafkish_raft.tests.simulation.network import Network
from kafkish_raft.tests.simulation.node import EMPTY_DIGEST, AdminHandle, Node
from kafkish_raft.tests.simulation.trace import describe, is_chatter
from kafkish_raft.voters import DYNAMIC, DirectoryId, Endpoint, NodeId, ReplicaKey, Voter, VoterSet

TIMES = {
    "election_timeout_ms": 250,
    "fetch_timeout_ms": 500,
    "election_backoff_max_ms": 250,
    "request_timeout_ms": 500,
    "retry_backoff_ms": 40,
    "fetch_max_wait_ms": 125,
    "fetch_snapshot_max_bytes": 64,
}
"""Kafka's proportions, four times as fast."""


class World:
    """Nodes, an event queue, and the dice that decide."""

    def __init__(self, seed: int, *, is_traced: bool = False) -> None:
        self.dice = Dice(seed)
        self.is_traced = is_traced
        self.is_chatty = True
        self.trace: list[str] = []
        self._states: dict[NodeId, str] = {}
        self.now_ms = 0
        self.steps = 0
        self.proposals = 0
        self.fetch_size = 12
        """Records that a fetch brings at most."""
        self.contents: dict[bytes, Snapshot] = {}
        self.checker = Checker(self)
        self.network = Network(self)
        self.nodes: dict[NodeId, Node] = {}
        self.answers: list[tuple[str, messages.Response]] = []
        self._queue: list[tuple[int, int, Callable[..., None], tuple[Any, ...], Node | None]] = []
        self._last_uid = 0
        self.on_death: Callable[[Node], None] = lambda _node: None

    # -- making

    def new_uid(self) -> int:
        self._last_uid += 1
        return self._last_uid

    def new_directory(self) -> DirectoryId:
        return DirectoryId(self.new_uid().to_bytes(16, "big"))

    def found(self, voter_count: int, observer_count: int, *, is_dynamic: bool, **settings: Any) -> None:
        """Format the disks: voters get ids from 1, observers follow."""
        ids = range(1, voter_count + observer_count + 1)
        directories = {node_id: self.new_directory() for node_id in ids}
        voters = VoterSet.of(
            Voter(ReplicaKey(node_id, directories[node_id]), (Endpoint("CONTROLLER", f"node-{node_id}", node_id),))
            for node_id in ids[:voter_count]
        )
        shared: dict[str, Any] = {**TIMES, **settings}
        if is_dynamic:
            shared["bootstrap_servers"] = tuple(Endpoint("", "bootstrap", node_id) for node_id in ids)
        else:
            shared["static_voters"] = VoterSet.of(Voter(ReplicaKey(voter.key.id), voter.endpoints) for voter in voters)
        bootstrap = Snapshot(BOOTSTRAP_SNAPSHOT, EMPTY_DIGEST, DYNAMIC, voters, b"never replicated")
        for node_id in ids:
            formatted = bootstrap if is_dynamic and node_id <= voter_count else None
            self.nodes[node_id] = Node(self, node_id, Disk(directories[node_id], formatted), shared)

    # -- time

    def at(self, at_ms: int, call: Callable[..., None], args: tuple[Any, ...] = (), node: Node | None = None) -> None:
        heapq.heappush(self._queue, (at_ms, self.new_uid(), call, args, node))

    def after(
        self, delay_ms: int, call: Callable[..., None], args: tuple[Any, ...] = (), node: Node | None = None
    ) -> None:
        self.at(self.now_ms + delay_ms, call, args, node)

    def run_one(self) -> None:
        """The next thing in the queue happens; to a paused node, when it wakes."""
        at_ms, _, call, args, node = heapq.heappop(self._queue)
        self.now_ms = at_ms
        if node is not None and node.paused_until_ms > at_ms:
            self.at(node.paused_until_ms, call, args, node)
        else:
            call(*args)

    def run_until(self, condition: Callable[[], bool], within_ms: int) -> bool:
        end_ms = self.now_ms + within_ms
        while not condition():
            if not self._queue or self._queue[0][0] > end_ms:
                return False
            self.run_one()
        return True

    # -- who is who

    def listening(self, endpoint: Endpoint) -> Node | None:
        """The live node behind an endpoint."""
        if endpoint.host == "bootstrap":
            node = self.nodes.get(endpoint.port)
        else:
            node = next((node for node in self.nodes.values() if node.port == endpoint.port), None)
        return node if node is not None and node.is_up else None

    def leaders(self) -> list[Node]:
        return [node for node in self.nodes.values() if node.raft and isinstance(node.raft.state, Leader)]

    def propose(self, node: Node) -> None:
        if node.raft:
            node.step(events.AppendRequested(None, node.raft.epoch, AdminHandle("propose")))

    def ask(self, node: Node, request: messages.Request, what: str) -> None:
        """An administrator's request, straight to a node."""
        if node.raft:
            node.step(events.RequestReceived(request, AdminHandle(what)))

    def answered(self, handle: AdminHandle, response: messages.Response) -> None:
        self.answers.append((handle.what, response))

    # -- what happened

    def note(self, node: Node | None, what: str, detail: str = "") -> None:
        if self.is_traced:
            self.trace.append(f"{self.now_ms:7} {node or '--'!s:4} {what} {detail}".rstrip())

    def note_step(self, node: Node, event: events.Event, wanted: list[effects.Effect]) -> None:
        raft = node.raft
        assert raft
        state = f"{raft.role} of epoch {raft.epoch}, log [{node.disk.start_offset}, {node.disk.end_offset})"
        is_news = self._states.get(node.id) != state
        if is_chatter(event, wanted) and not is_news and not self.is_chatty:
            return
        self._states[node.id] = state
        self.note(node, describe(event), f" -> {state}" if is_news else "")
        self.trace.extend(f"{'':13}{describe(effect)}" for effect in wanted)
