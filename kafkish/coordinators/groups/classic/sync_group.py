"""SyncGroup (14): hand out and receive the assignment of a generation.

The leader's request carries the assignment of everybody; it is stored, then all who wait are answered. Followers that
come before the leader wait. Bytes pass through unread; a member that the leader left out gets none (clients read that
as an empty assignment). From version 5 on the protocol must be named, and must be the group's.

A generation has one assignment. If the leader sends another while the first is being stored, it gets the first: whoever
coordinates the group next must find in the log what the members have been told.
"""

from dataclasses import dataclass

from kafkish.coordinators.effects import Effects, error_for_clients
from kafkish.coordinators.groups.classic import rebalance, responses
from kafkish.coordinators.groups.classic.group import ClassicGroup, GroupState
from kafkish.coordinators.groups.records import group_record
from kafkish.coordinators.groups.refusals import fault_of
from kafkish.coordinators.groups.state import ShardState, sync_key
from kafkish.coordinators.inputs import Caller, Now
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.sync_group import SyncGroupRequest


def sync_group(shard: ShardState, request: SyncGroupRequest, caller: Caller, now: Now) -> None:  # noqa: ARG001
    """Answer at once, or wait for the leader."""
    group = shard.groups.get(request.group_id)
    error = fault_of(request, caller.api_version, shard.settings) or _check(group, request)
    if group is None or error:
        shard.refuse(request, caller, error)
        return
    member = group.members[request.member_id]
    group.pending_sync_ids.discard(member.member_id)
    if not group.pending_sync_ids:
        shard.deadlines.cancel(sync_key(group.group_id))
    if group.state is GroupState.STABLE:
        shard.outbox.reply(caller.handle, responses.synced(group, member))
        return
    rebalance.wait_for_sync(shard, member, caller)
    if group.leader_id == member.member_id and group.assigned_generation_id != group.generation_id:
        _store(shard, group, request)


def _check(group: ClassicGroup | None, request: SyncGroupRequest) -> ErrorCode:
    if group is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if error := group.check_member(request.member_id, request.group_instance_id):
        return error
    if request.generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    if _differs(request.protocol_type, group.protocol_type) or _differs(request.protocol_name, group.protocol_name):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group.state is GroupState.PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def _differs(asked: str | None, actual: str | None) -> bool:
    return asked is not None and actual is not None and asked != actual


def _store(shard: ShardState, group: ClassicGroup, request: SyncGroupRequest) -> None:
    assignments = {sent.member_id: sent.assignment for sent in request.assignments}
    group.assigned_generation_id = group.generation_id
    outcome = _AssignmentStored(shard, group, group.generation_id, assignments)
    shard.outbox.write([group_record(group, assignments)], outcome)


@dataclass(frozen=True, slots=True)
class _AssignmentStored:
    """The generation has an assignment that outlives this coordinator. By now there may be a newer generation."""

    shard: ShardState
    group: ClassicGroup
    generation_id: int
    assignments: dict[str, bytes]

    def committed(self, now: Now) -> Effects:
        if self._still_matters():
            for member in self.group.members.values():
                member.assignment = self.assignments.get(member.member_id, b"")
            rebalance.answer_syncs(self.shard, self.group, ErrorCode.NONE, now)
            self.group.move_to(GroupState.STABLE, now.wall_ms)
        return self.shard.outbox.drain()

    def failed(self, error: ErrorCode, now: Now) -> Effects:
        if self._still_matters():
            rebalance.answer_syncs(self.shard, self.group, error_for_clients(error), now)
            rebalance.prepare(self.shard, self.group, now)
        return self.shard.outbox.drain()

    def _still_matters(self) -> bool:
        is_current = self.group.generation_id == self.generation_id
        return is_current and self.group.state is GroupState.COMPLETING_REBALANCE
