"""LeaveGroup (13): leave a group, or remove static members from it."""

from kafkish.deferred import Deferred
from kafkish.handlers.groups import ask_coordinator, refuse_group
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse


@handles(ApiKey.LEAVE_GROUP, refuse_group)
def leave_group(request: LeaveGroupRequest, context: RequestContext) -> Deferred[LeaveGroupResponse]:
    """The coordinator answers."""
    return ask_coordinator(request, context, LeaveGroupResponse)
