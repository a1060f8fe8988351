"""The network: it delays, reorders, loses, doubles and cuts off, also in one direction only."""

from typing import TYPE_CHECKING

from kafkish_raft import events, messages
from kafkish_raft.tests.simulation.node import Node, RpcHandle
from kafkish_raft.voters import Endpoint, NodeId, Voter

if TYPE_CHECKING:
    from kafkish_raft.tests.simulation.world import World


class Network:
    """Rates are per mille of the messages."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self.delay_ms = (1, 5)
        self.lost = 0
        self.doubled = 0
        self.late = 0
        """Messages that take up to 50 times as long: they arrive when they are long forgotten."""
        self.cut: set[tuple[NodeId, NodeId]] = set()
        """Pairs (from, to) that do not reach each other."""
        self.joining: list[Voter] = []
        """Who asks to become a voter in a request on its way."""

    def request(self, source: Node, endpoint: Endpoint, handle: RpcHandle) -> None:
        """Bring a request to whoever listens there; a refused connection is noticed."""
        target = self.world.listening(endpoint)
        if target is None:
            failed = events.ResponseReceived(handle.destination, handle.correlation_id, None)
            self.world.after(2, source.wake, (source.incarnation, failed), source)
            return
        for delay_ms in self._journeys(source.id, target.id):
            if isinstance(handle.request, messages.AddRaftVoterRequest):
                self.joining.append(handle.request.voter)
            self.world.after(delay_ms, self._arrive, (target, handle), target)

    def _arrive(self, target: Node, handle: RpcHandle) -> None:
        if isinstance(handle.request, messages.AddRaftVoterRequest):
            self.joining.remove(handle.request.voter)
        if target.raft is not None:
            self.world.checker.arriving(target, handle.request)
            target.step(events.RequestReceived(handle.request, handle))

    def response(self, source: Node, handle: RpcHandle, response: messages.Response) -> None:
        """Bring a response back to the life of the node that asked."""
        asker = self.world.nodes[handle.source]
        event = events.ResponseReceived(handle.destination, handle.correlation_id, response)
        for delay_ms in self._journeys(source.id, asker.id):
            self.world.after(delay_ms, asker.wake, (handle.incarnation, event), asker)

    def _journeys(self, source: NodeId, target: NodeId) -> list[int]:
        """How long each copy of a message takes."""
        dice = self.world.dice
        if (source, target) in self.cut or dice.chance(self.lost):
            return []
        journeys = [dice.between(*self.delay_ms)]
        if dice.chance(self.doubled):
            journeys.append(dice.between(*self.delay_ms) * 3)
        if dice.chance(self.late):
            journeys[0] *= dice.between(2, 50)
        return journeys
