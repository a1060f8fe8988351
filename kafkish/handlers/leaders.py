"""Who leads a partition and how a client reaches nodes: for answers that send it elsewhere (KIP-951)."""

from collections.abc import Iterable, Iterator

from kafkish.handlers.endpoints import Endpoint, endpoint_of
from kafkish.handlers.registry import RequestContext
from kafkish_protocol.types import Uuid

NOBODY = (-1, -1)


def leader_of(topic: str, topic_id: Uuid, index: int, context: RequestContext) -> tuple[int, int]:
    """The leader and its epoch, as far as this node knows."""
    topics = context.services.metadata.image.topics
    found = topics.by_name.get(topic) or topics.by_id.get(topic_id)
    partition = None if found is None else found.partitions.get(index)
    return NOBODY if partition is None else (partition.leader, partition.leader_epoch)


def endpoints(node_ids: Iterable[int], context: RequestContext) -> Iterator[Endpoint]:
    """Addresses of nodes, as far as the client can reach them."""
    brokers = context.services.metadata.image.brokers
    found = (endpoint_of(brokers[node_id], context) for node_id in sorted(node_ids) if node_id in brokers)
    return (endpoint for endpoint in found if endpoint is not None)
