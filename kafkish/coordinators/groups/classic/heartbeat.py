"""Heartbeat (12): a member is alive, and learns whether it must join again."""

from kafkish.coordinators.groups.classic import rebalance
from kafkish.coordinators.groups.classic.group import ClassicGroup, GroupState
from kafkish.coordinators.groups.state import ShardState
from kafkish.coordinators.inputs import Caller, Now
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


def heartbeat(shard: ShardState, request: HeartbeatRequest, caller: Caller, now: Now) -> None:
    """Renew the session, also in a rebalance, where the answer is to join again."""
    group = shard.groups.get(request.group_id)
    error = _check(group, request)
    if group is not None and not error:
        rebalance.renew_session(shard, group, group.members[request.member_id], now)
        if group.state is GroupState.PREPARING_REBALANCE:
            error = ErrorCode.REBALANCE_IN_PROGRESS
    shard.outbox.reply(caller.handle, HeartbeatResponse(error_code=error))


def _check(group: ClassicGroup | None, request: HeartbeatRequest) -> ErrorCode:
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    if group is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if error := group.check_member(request.member_id, request.group_instance_id):
        return error
    return ErrorCode.NONE if request.generation_id == group.generation_id else ErrorCode.ILLEGAL_GENERATION


def on_commit(shard: ShardState, group_id: str, member_id: str, now: Now) -> None:
    """A member that commits is alive as well."""
    group = shard.groups.get(group_id)
    member = group.members.get(member_id) if group else None
    if group is not None and member is not None:
        rebalance.renew_session(shard, group, member, now)
