"""Who leads a partition and how a client reaches nodes: for answers that send it elsewhere (KIP-951)."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafkish.handlers.registry import RequestContext
from kafkish_protocol.types import Uuid

NOBODY = (-1, -1)


class Endpoint(NamedTuple):
    """A node's address for this client."""

    id: int
    host: str
    port: int
    rack: str | None


def leader_of(topic: str, topic_id: Uuid, index: int, context: RequestContext) -> tuple[int, int]:
    """The leader and its epoch, as far as this node knows."""
    topics = context.services.metadata.image.topics
    found = topics.by_name.get(topic) or topics.by_id.get(topic_id)
    partition = None if found is None else found.partitions.get(index)
    return NOBODY if partition is None else (partition.leader, partition.leader_epoch)


def endpoints(node_ids: Iterable[int], context: RequestContext) -> Iterator[Endpoint]:
    """Addresses of nodes on the listener that the client came in by; of this node, the address that it dialled."""
    services = context.services
    dialled = services.metadata.settings.network.advertised_listeners is None
    for node_id in sorted(node_ids):
        broker = services.metadata.image.brokers.get(node_id)
        if broker is None:
            continue
        if dialled and node_id == services.node.id:
            yield Endpoint(node_id, context.local_host, context.local_port, broker.rack)
            continue
        for listener in broker.listeners:
            if listener.name == context.listener:
                yield Endpoint(node_id, listener.host, listener.port, broker.rack)
