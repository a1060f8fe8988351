"""CreatePartitions (37): give topics more partitions."""

from kafkish.deferred import Deferred
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.create_partitions import CreatePartitionsRequest
from kafkish_protocol.schema import Response


@handles(ApiKey.CREATE_PARTITIONS)
def create_partitions(request: CreatePartitionsRequest, context: RequestContext) -> Deferred[Response]:
    """The controller answers."""
    return context.services.controller.submit(request, context.api_version)
