"""UnregisterBroker (64): forget a broker that is gone for good."""

from kafkish.deferred import Deferred
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.unregister_broker import UnregisterBrokerRequest
from kafkish_protocol.schema import Response


@handles(ApiKey.UNREGISTER_BROKER)
def unregister_broker(request: UnregisterBrokerRequest, context: RequestContext) -> Deferred[Response]:
    """The controller answers."""
    return context.services.controller.submit(request, context.api_version)
