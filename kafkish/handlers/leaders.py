"""Who leads a partition, for answers that send a client elsewhere (KIP-951)."""

from collections.abc import Iterable, Iterator

from kafkish.handlers.endpoints import Endpoint, leader_endpoint
from kafkish.handlers.registry import RequestContext
from kafkish_protocol.types import Uuid

NOBODY = (-1, -1)


def leader_of(topic: str, topic_id: Uuid, index: int, context: RequestContext) -> tuple[int, int]:
    """The leader and its epoch, as far as this node knows."""
    topics = context.services.metadata.image.topics
    found = topics.by_name.get(topic) or topics.by_id.get(topic_id)
    partition = None if found is None else found.partitions.get(index)
    return NOBODY if partition is None else (partition.leader, partition.leader_epoch)


def endpoints_of(leaders: Iterable[int], context: RequestContext) -> Iterator[Endpoint]:
    """Where the client reaches them, as far as it can."""
    for leader in sorted(leaders):
        endpoint = leader_endpoint(leader, context)
        if endpoint is not None:
            yield endpoint
