"""Heartbeat (12): stay in a group of the classic protocol."""

from kafkish.deferred import Deferred
from kafkish.handlers.groups import ask_coordinator, refuse_group
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


@handles(ApiKey.HEARTBEAT, refuse_group)
def heartbeat(request: HeartbeatRequest, context: RequestContext) -> Deferred[HeartbeatResponse]:
    """The coordinator answers."""
    return ask_coordinator(request, context, HeartbeatResponse)
