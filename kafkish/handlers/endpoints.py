"""Where a client reaches the brokers of the cluster."""

from typing import NamedTuple

from kafkish.handlers.registry import RequestContext
from kafkish.metadata.nodes import Broker
from kafkish.metadata.topics import Partition, Replicas
from kafkish_protocol.types import Uuid

NO_NODE = -1


class Endpoint(NamedTuple):
    """A broker, as one client reaches it."""

    node_id: int
    host: str
    port: int
    rack: str | None
    is_fenced: bool = False


NOWHERE = Endpoint(NO_NODE, "", -1, None)


def endpoint_of(broker: Broker, context: RequestContext) -> Endpoint | None:
    """A broker's address on the listener that the client came in by; None if it has no such listener.

    With `advertised.listeners=auto` this node is where the client dialled: that is known to work for it.
    """
    services = context.services
    if broker.id == services.node.id and services.metadata.settings.network.advertised_listeners is None:
        return Endpoint(broker.id, context.local_host, context.local_port, broker.rack, broker.fenced)
    for listener in broker.listeners:
        if listener.name == context.listener:
            return Endpoint(broker.id, listener.host, listener.port, broker.rack, broker.fenced)
    return None


def leader_endpoint(leader: int, context: RequestContext) -> Endpoint | None:
    """Where a leader is; None if nobody leads, or if this client cannot reach it."""
    broker = context.services.metadata.image.brokers.get(leader)
    return None if broker is None else endpoint_of(broker, context)


class View:
    """The cluster as one client sees it. Made once for a request: a request may ask for ten thousand partitions."""

    def __init__(self, context: RequestContext) -> None:
        self._brokers = context.services.metadata.image.brokers
        self._offline: dict[tuple[Replicas, tuple[Uuid, ...]], list[int]] = {}
        self._dice = context.services.dice
        found = [endpoint_of(broker, context) for broker in self._brokers.values()]
        self.endpoints = {endpoint.node_id: endpoint for endpoint in found if endpoint is not None}
        """All brokers that have a listener for this client, those that are fenced too."""
        self.alive = {id: endpoint for id, endpoint in self.endpoints.items() if not endpoint.is_fenced}

    @property
    def controller_id(self) -> int:
        """The controller as clients know it: any broker, since each passes on what is the controller's (KIP-590)."""
        return self._dice.choice(list(self.alive)) if self.alive else NO_NODE

    def is_registered(self, node_id: int) -> bool:
        """Whether there is such a broker, whoever can reach it."""
        return node_id in self._brokers

    def offline_replicas(self, partition: Partition) -> list[int]:
        """Replicas whose broker or directory is not there, or whose broker this client cannot reach."""
        place = (partition.replicas, partition.directories)
        if place not in self._offline:
            pairs = zip(*place, strict=True)
            self._offline[place] = [replica for replica, directory in pairs if not self._has(replica, directory)]
        return self._offline[place]

    def _has(self, replica: int, directory: Uuid) -> bool:
        return replica in self.alive and self._brokers[replica].has_online(directory)
