"""ListGroups (16): the groups that this broker coordinates."""

from kafkish.deferred import Deferred
from kafkish.handlers.groups import ask_coordinator, refuse_group
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse


@handles(ApiKey.LIST_GROUPS, refuse_group)
def list_groups(request: ListGroupsRequest, context: RequestContext) -> Deferred[ListGroupsResponse]:
    """The coordinator answers, with the groups of all its partitions."""
    return ask_coordinator(request, context, ListGroupsResponse)
