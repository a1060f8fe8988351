"""DescribeCluster (60): the cluster's id and its brokers.

Version 1 can ask for controllers instead, but not here: they have listeners of their own (KIP-919). Version 2 shows
brokers that are fenced, if it is asked to (KIP-1073).
"""

from typing import Final

from kafkish.handlers.endpoints import Endpoint, View
from kafkish.handlers.permissions import CLUSTER_OPERATIONS, NOT_ASKED
from kafkish.handlers.registry import RequestContext, RequestError, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

_BROKERS: Final = 1
_CONTROLLERS: Final = 2


@handles(ApiKey.DESCRIBE_CLUSTER)
def describe_cluster(request: DescribeClusterRequest, context: RequestContext) -> DescribeClusterResponse:
    """Answer with the brokers that the client can reach."""
    check_endpoint_type(request.endpoint_type)
    view = View(context)
    brokers = view.endpoints if request.include_fenced_brokers else view.alive
    wants_operations = request.include_cluster_authorized_operations
    return DescribeClusterResponse(
        cluster_id=context.services.node.cluster_id,
        controller_id=view.controller_id,
        brokers=[shown_broker(broker) for broker in brokers.values()],
        cluster_authorized_operations=CLUSTER_OPERATIONS if wants_operations else NOT_ASKED,
    )


def check_endpoint_type(asked: int) -> None:
    """Refuse to speak of anything but brokers."""
    if asked == _CONTROLLERS:
        message = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
        raise RequestError(ErrorCode.MISMATCHED_ENDPOINT_TYPE, message)
    if asked != _BROKERS:
        raise RequestError(ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {asked}")


def shown_broker(at: Endpoint) -> DescribeClusterBroker:
    """A broker's row."""
    return DescribeClusterBroker(broker_id=at.node_id, host=at.host, port=at.port, rack=at.rack, is_fenced=at.is_fenced)
