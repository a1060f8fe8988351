"""JoinGroup (11): enter a group of the classic protocol. The answer comes when its members have gathered."""

from kafkish.deferred import Deferred
from kafkish.handlers.groups import ask_coordinator, refuse_group
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse


@handles(ApiKey.JOIN_GROUP, refuse_group)
def join_group(request: JoinGroupRequest, context: RequestContext) -> Deferred[JoinGroupResponse]:
    """The coordinator answers."""
    return ask_coordinator(request, context, JoinGroupResponse)
