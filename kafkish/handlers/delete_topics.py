"""DeleteTopics (20): delete topics, by name or by id."""

from kafkish.deferred import Deferred
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.delete_topics import DeleteTopicsRequest
from kafkish_protocol.schema import Response


@handles(ApiKey.DELETE_TOPICS)
def delete_topics(request: DeleteTopicsRequest, context: RequestContext) -> Deferred[Response]:
    """The controller answers."""
    return context.services.controller.submit(request, context.api_version)
