"""ListPartitionReassignments (46): which replicas are on the move, as far as this node knows."""

from kafkish.controller import list_partition_reassignments as reassignments
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)


@handles(ApiKey.LIST_PARTITION_REASSIGNMENTS)
def list_partition_reassignments(
    request: ListPartitionReassignmentsRequest, context: RequestContext
) -> ListPartitionReassignmentsResponse:
    """Answer from the image."""
    return reassignments.list_partition_reassignments(context.services.metadata.image, request)
