"""LeaveGroup (13): leave at once instead of waiting for the session's end.

Until version 2 one member leaves, and the response has one error. From version 3 on several may, and an administrator
may remove static members by their instance id alone (KIP-345): each has its own error.
"""

from kafkish.coordinators.groups.classic import rebalance
from kafkish.coordinators.groups.classic.group import ClassicGroup, GroupState
from kafkish.coordinators.groups.state import ShardState, session_key
from kafkish.coordinators.inputs import Caller, Now
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity, MemberResponse

_SEVERAL_VERSION = 3


def leave_group(shard: ShardState, request: LeaveGroupRequest, caller: Caller, now: Now) -> None:
    """Remove whom it names, then go on without them. If nobody is left, that is stored before the answer."""
    if not request.group_id:
        shard.refuse(request, caller, ErrorCode.INVALID_GROUP_ID)
        return
    several = caller.api_version >= _SEVERAL_VERSION
    leaving = request.members if several else [MemberIdentity(member_id=request.member_id)]
    group = shard.groups.get(request.group_id)
    errors = [_leave(shard, group, identity) for identity in leaving]
    if group is not None and group.state is not GroupState.EMPTY and ErrorCode.NONE in errors:
        rebalance.prepare_or_complete(shard, group, now)
    response = _response(leaving, errors) if several else LeaveGroupResponse(error_code=errors[0])
    shard.reply_when_committed((), request, caller, response)


def _leave(shard: ShardState, group: ClassicGroup | None, identity: MemberIdentity) -> ErrorCode:
    if group is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    member_id = identity.member_id
    if member_id in group.pending_member_ids:
        group.pending_member_ids.discard(member_id)
        shard.deadlines.cancel(session_key(group.group_id, member_id))
        return ErrorCode.NONE
    if not member_id and identity.group_instance_id is not None:
        member_id = group.static_member_ids.get(identity.group_instance_id, "")
    error = group.check_member(member_id, identity.group_instance_id if member_id else None)
    if not error:
        rebalance.remove_member(shard, group, group.members[member_id])
    return error


def _response(leaving: list[MemberIdentity], errors: list[ErrorCode]) -> LeaveGroupResponse:
    members = [
        MemberResponse(member_id=who.member_id, group_instance_id=who.group_instance_id, error_code=error)
        for who, error in zip(leaving, errors, strict=True)
    ]
    return LeaveGroupResponse(members=members)
