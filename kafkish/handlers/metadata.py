"""Metadata (3): the brokers of the cluster, and its topics with their leaders.

- In version 0 an empty list asks for all topics; later null does, and an empty list asks for none.
- Topics may be asked for by id from version 12 on; names in such a request are not looked at.
- A topic that is not there is created, if the broker's settings and the client (version 4) have nothing against it, and
  is unknown until then.
- Version 0 leaves out replicas that cannot be reached, and says so; until version 5 a leader that this client cannot
  reach for want of a listener is not available, later the listener is not found.
"""

from collections.abc import Collection, Iterable, Iterator

from kafkish.config.topic_names import why_invalid
from kafkish.deferred import Deferred
from kafkish.handlers.endpoints import NO_NODE, Endpoint, View
from kafkish.handlers.long_answers import made_in_turns
from kafkish.handlers.permissions import CLUSTER_OPERATIONS, NOT_ASKED, TOPIC_OPERATIONS
from kafkish.handlers.registry import RequestContext, RequestError, handles
from kafkish.handlers.topic_creation import INTERNAL_TOPICS, create_missing
from kafkish.metadata.topics import Partition, Replicas, Topic, Topics
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafkish_protocol.types import ZERO_UUID, Uuid

_AT_ONCE = 5_000
"""Partitions that are shown in one turn: some milliseconds of the loop. A topic is shown as a whole."""

_IDS_VERSION = 12
_LISTENER_NOT_FOUND_VERSION = 6


@handles(ApiKey.METADATA)
def metadata(request: MetadataRequest, context: RequestContext) -> MetadataResponse | Deferred[MetadataResponse]:
    """Answer with the brokers that the client can reach, and the topics that it asks for."""
    view = View(context)
    wants_operations = request.include_cluster_authorized_operations
    response = MetadataResponse(
        brokers=[shown_broker(broker) for broker in view.alive.values()],
        cluster_id=context.services.node.cluster_id,
        controller_id=view.controller_id,
        cluster_authorized_operations=CLUSTER_OPERATIONS if wants_operations else NOT_ASKED,
    )
    found = asked_topics(request, context)
    return made_in_turns(response, show_topics(found, request, response, context, view), context.services.timers)


def shown_broker(at: Endpoint) -> MetadataResponseBroker:
    """A broker's row."""
    return MetadataResponseBroker(node_id=at.node_id, host=at.host, port=at.port, rack=at.rack)


# -- topics


def asked_topics(request: MetadataRequest, context: RequestContext) -> Collection[Topic | MetadataResponseTopic]:
    """All topics, or those that the request names. Of one that is not there, the row that says so."""
    topics = context.services.metadata.image.topics
    if request.topics is None or (context.api_version == 0 and not request.topics):
        return topics.by_name.values()
    check_names(request, context.api_version)
    ids = dict.fromkeys(asked.topic_id for asked in request.topics if asked.topic_id != ZERO_UUID)
    names = dict.fromkeys(asked.name for asked in request.topics if asked.name is not None)
    return topics_by_id(ids, topics) if ids else topics_by_name(names, request, context)


def show_topics(
    found: Collection[Topic | MetadataResponseTopic],
    request: MetadataRequest,
    response: MetadataResponse,
    context: RequestContext,
    view: View,
) -> Iterator[None]:
    """Add a row for each topic, in turns."""
    partitions = 0
    for each in found:
        row = shown_topic(each, view, context.api_version) if isinstance(each, Topic) else each
        if request.include_topic_authorized_operations:
            row.topic_authorized_operations = NOT_ASKED if row.name is None else TOPIC_OPERATIONS
        response.topics.append(row)
        partitions += len(row.partitions)
        if partitions >= _AT_ONCE:
            partitions = 0
            yield


def check_names(request: MetadataRequest, version: int) -> None:
    """Refuse ids in versions 10 and 11, which only have a field for them, and topics with neither id nor name."""
    for asked in request.topics or []:
        if asked.topic_id != ZERO_UUID and version < _IDS_VERSION:
            message = f"Topic IDs are not supported in requests for version {version}"
            raise RequestError(ErrorCode.INVALID_REQUEST, message)
        if asked.name is None and asked.topic_id == ZERO_UUID:
            raise RequestError(ErrorCode.INVALID_REQUEST, "A topic has neither a name nor an id.")


def topics_by_id(ids: Iterable[Uuid], topics: Topics) -> list[Topic | MetadataResponseTopic]:
    """Topics that are asked for by their ids. One that is unknown has no name."""
    return [
        topics.by_id.get(id) or MetadataResponseTopic(error_code=ErrorCode.UNKNOWN_TOPIC_ID, topic_id=id, name=None)
        for id in ids
    ]


def topics_by_name(
    names: Iterable[str], request: MetadataRequest, context: RequestContext
) -> list[Topic | MetadataResponseTopic]:
    """Topics that are asked for by their names. Those that are missing may be created."""
    services = context.services
    topics = services.metadata.image.topics.by_name
    missing = [name for name in names if name not in topics]
    if request.allow_auto_topic_creation and services.metadata.settings.topics.auto_create_topics_enable:
        errors = create_missing(missing, services)
    else:
        errors = {name: why_missing(name) for name in missing}
    return [
        topics.get(name)
        or MetadataResponseTopic(error_code=errors[name], name=name, is_internal=name in INTERNAL_TOPICS)
        for name in names
    ]


def why_missing(name: str) -> ErrorCode:
    """There could be such a topic, or there could not."""
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if why_invalid(name) is None else ErrorCode.INVALID_TOPIC_EXCEPTION


def shown_topic(topic: Topic, view: View, version: int) -> MetadataResponseTopic:
    """The row of a topic that exists."""
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=[shown_partition(index, it, view, version) for index, it in sorted(topic.partitions.items())],
    )


# -- partitions


def shown_partition(index: int, partition: Partition, view: View, version: int) -> MetadataResponsePartition:
    """A partition's row."""
    leader = view.endpoints.get(partition.leader)
    replicas, isr = partition.replicas, partition.isr
    if version == 0:
        replicas, isr = reachable(replicas, view), reachable(isr, view)
    is_complete = len(replicas) == len(partition.replicas) and len(isr) == len(partition.isr)
    if leader is None:
        error = why_no_leader(partition.leader, view, version)
    else:
        error = ErrorCode.NONE if is_complete else ErrorCode.REPLICA_NOT_AVAILABLE
    return MetadataResponsePartition(
        error_code=error,
        partition_index=index,
        leader_id=NO_NODE if leader is None else leader.node_id,
        leader_epoch=partition.leader_epoch,
        replica_nodes=list(replicas),
        isr_nodes=list(isr),
        offline_replicas=view.offline_replicas(partition),
    )


def why_no_leader(leader: int, view: View, version: int) -> ErrorCode:
    """Nobody leads, or this client cannot reach who does."""
    by_listener = view.is_registered(leader) and version >= _LISTENER_NOT_FOUND_VERSION
    return ErrorCode.LISTENER_NOT_FOUND if by_listener else ErrorCode.LEADER_NOT_AVAILABLE


def reachable(replicas: Replicas, view: View) -> Replicas:
    """Those on brokers that the client can reach."""
    return tuple(replica for replica in replicas if replica in view.alive)
