"""DescribeGroups (15): state and members of classic groups.

What members said is shown while it is in force: in a stable group. A group that is not here is Dead; from version 6 on
that is an error (KIP-1043).
"""

from kafkish.coordinators.groups.classic.group import ClassicGroup, GroupState
from kafkish.coordinators.groups.state import ShardState
from kafkish.coordinators.inputs import Caller, Now
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

_NOT_FOUND_VERSION = 6


def describe_groups(shard: ShardState, request: DescribeGroupsRequest, caller: Caller, now: Now) -> None:  # noqa: ARG001
    """Answer at once, in the order of the request."""
    described = []
    for group_id in request.groups:
        group = shard.groups.get(group_id)
        described.append(_not_found(group_id, caller.api_version) if group is None else _describe(group))
    shard.outbox.reply(caller.handle, DescribeGroupsResponse(groups=described))


def _not_found(group_id: str, version: int) -> DescribedGroup:
    dead = DescribedGroup(group_id=group_id, group_state=GroupState.DEAD.value)
    if version >= _NOT_FOUND_VERSION:
        dead.error_code = ErrorCode.GROUP_ID_NOT_FOUND
        dead.error_message = f"Group {group_id} not found."
    return dead


def _describe(group: ClassicGroup) -> DescribedGroup:
    protocol = group.protocol_name if group.state is GroupState.STABLE else None
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        protocol_type=group.protocol_type,
        protocol_data=protocol or "",
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata(protocol),
                member_assignment=member.assignment,
            )
            for member in group.members.values()
        ],
    )
