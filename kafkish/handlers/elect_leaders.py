"""ElectLeaders (43): have partitions choose their preferred leader, or any that is left."""

from kafkish.deferred import Deferred
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.elect_leaders import ElectLeadersRequest
from kafkish_protocol.schema import Response


@handles(ApiKey.ELECT_LEADERS)
def elect_leaders(request: ElectLeadersRequest, context: RequestContext) -> Deferred[Response]:
    """The controller answers."""
    return context.services.controller.submit(request, context.api_version)
