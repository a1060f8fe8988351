"""DeleteGroups (42): delete groups without members."""

from kafkish.deferred import Deferred
from kafkish.handlers.groups import ask_coordinator, refuse_group
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse


@handles(ApiKey.DELETE_GROUPS, refuse_group)
def delete_groups(request: DeleteGroupsRequest, context: RequestContext) -> Deferred[DeleteGroupsResponse]:
    """The coordinator answers for each group."""
    return ask_coordinator(request, context, DeleteGroupsResponse)
