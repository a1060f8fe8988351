"""DescribeGroups (15): state and members of classic groups; from version 3 on, what the client may do to them."""

from kafkish.deferred import Deferred
from kafkish.handlers.groups import ask_coordinator, refuse_group
from kafkish.handlers.permissions import GROUP_OPERATIONS
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse


@handles(ApiKey.DESCRIBE_GROUPS, refuse_group)
def describe_groups(request: DescribeGroupsRequest, context: RequestContext) -> Deferred[DescribeGroupsResponse]:
    """The coordinator answers for each group."""
    answer = ask_coordinator(request, context, DescribeGroupsResponse)
    return answer.map(_with_operations) if request.include_authorized_operations else answer


def _with_operations(response: DescribeGroupsResponse) -> DescribeGroupsResponse:
    for group in response.groups:
        if not group.error_code:
            group.authorized_operations = GROUP_OPERATIONS
    return response
