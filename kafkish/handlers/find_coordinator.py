"""FindCoordinator (10): which broker coordinates a group.

- The leader of the group's partition of `__consumer_offsets`; the topic is created when the first group asks.
- One key until version 3, several from version 4 on (KIP-699).
- Transactions and share groups have no coordinator here. A client that looks for one is refused, and not told to try
  again, as Kafka does where share groups are switched off.
"""

from typing import Final, NamedTuple

from kafkish.handlers.endpoints import NOWHERE, Endpoint, leader_endpoint
from kafkish.handlers.registry import RequestContext, handles
from kafkish.handlers.topic_creation import GROUPS_TOPIC, create_missing
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse

_SEVERAL_VERSION: Final = 4
_GROUP: Final = 0
_NOT_SERVED: Final = {
    1: "This broker does not serve transactions.",
    2: "This broker does not serve share groups.",
}


class Found(NamedTuple):
    """A coordinator, or why there is none."""

    error: ErrorCode
    at: Endpoint = NOWHERE
    message: str = ""


@handles(ApiKey.FIND_COORDINATOR)
def find_coordinator(request: FindCoordinatorRequest, context: RequestContext) -> FindCoordinatorResponse:
    """Answer for each key."""
    if context.api_version >= _SEVERAL_VERSION:
        found = [(key, find(key, request.key_type, context)) for key in request.coordinator_keys]
        return FindCoordinatorResponse(coordinators=[_row(key, coordinator) for key, coordinator in found])
    error, at, message = find(request.key, request.key_type, context)
    return FindCoordinatorResponse(
        error_code=error,
        error_message=message or "NONE",  # Kafka's text for no error
        node_id=at.node_id,
        host=at.host,
        port=at.port,
    )


def _row(key: str, found: Found) -> Coordinator:
    at = found.at
    return Coordinator(
        key=key,
        node_id=at.node_id,
        host=at.host,
        port=at.port,
        error_code=found.error,
        error_message=found.message,
    )


def find(key: str, key_type: int, context: RequestContext) -> Found:
    """The coordinator of one key."""
    if key_type != _GROUP:
        message = _NOT_SERVED.get(key_type, f"There are no coordinators of type {key_type}.")
        return Found(ErrorCode.INVALID_REQUEST, message=message)
    services = context.services
    topic = services.metadata.image.topic(GROUPS_TOPIC)
    if topic is None:
        create_missing([GROUPS_TOPIC], services)
        return _NOT_AVAILABLE
    partition = topic.partitions.get(services.groups.partition_of(key))
    at = None if partition is None else leader_endpoint(partition.leader, context)
    return _NOT_AVAILABLE if at is None else Found(ErrorCode.NONE, at)


_NOT_AVAILABLE: Final = Found(ErrorCode.COORDINATOR_NOT_AVAILABLE, message="The coordinator is not available.")
