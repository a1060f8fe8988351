"""AlterPartitionReassignments (45): move replicas to other brokers, or stop moving them."""

from kafkish.deferred import Deferred
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kafkish_protocol.schema import Response


@handles(ApiKey.ALTER_PARTITION_REASSIGNMENTS)
def alter_partition_reassignments(
    request: AlterPartitionReassignmentsRequest, context: RequestContext
) -> Deferred[Response]:
    """The controller answers."""
    return context.services.controller.submit(request, context.api_version)
