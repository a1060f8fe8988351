"""CreateTopics (19): create topics, or check whether they could be. The answer comes when they are there to be used."""

from kafkish.deferred import Deferred
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.create_topics import CreateTopicsRequest
from kafkish_protocol.schema import Response


@handles(ApiKey.CREATE_TOPICS)
def create_topics(request: CreateTopicsRequest, context: RequestContext) -> Deferred[Response]:
    """The controller answers."""
    return context.services.controller.submit(request, context.api_version)
