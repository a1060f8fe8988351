"""SyncGroup (14): receive an assignment. The answer comes when the group's leader has made it."""

from kafkish.deferred import Deferred
from kafkish.handlers.groups import ask_coordinator, refuse_group
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse


@handles(ApiKey.SYNC_GROUP, refuse_group)
def sync_group(request: SyncGroupRequest, context: RequestContext) -> Deferred[SyncGroupResponse]:
    """The coordinator answers."""
    return ask_coordinator(request, context, SyncGroupResponse)
