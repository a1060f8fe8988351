"""JoinGroup (11): enter a classic group, or ask for a new generation.

- Version 0 has one timeout for sessions and rebalances. From version 4 on a dynamic member that joins without an id is
  given one with MEMBER_ID_REQUIRED and comes back with it (KIP-394): clients that give up leave no member behind.
- A static member (KIP-345, from version 5) that comes back without an id takes the place of its former self, which is
  fenced. In a stable group that is no reason to rebalance. If it was the leader it is told so from version 9 on, with
  `skip_assignment` (KIP-814); before, it is shown its old id as the leader's and takes itself for a follower.
- A leader that joins again forces a rebalance: it may have seen new partitions. A follower does so only if its metadata
  has changed; else it gets the current generation again.
"""

from dataclasses import dataclass
from functools import partial

from kafkish.coordinators.effects import Effects, error_for_clients
from kafkish.coordinators.groups.classic import rebalance, responses
from kafkish.coordinators.groups.classic.group import ClassicGroup, GroupState
from kafkish.coordinators.groups.classic.member import Member, Protocols
from kafkish.coordinators.groups.records import group_record, new_group_record
from kafkish.coordinators.groups.refusals import fault_of, refuse_join
from kafkish.coordinators.groups.state import ShardState, session_key
from kafkish.coordinators.inputs import Caller, Now
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse

_MEMBER_ID_REQUIRED_VERSION = 4
_SKIP_ASSIGNMENT_VERSION = 9


def join_group(shard: ShardState, request: JoinGroupRequest, caller: Caller, now: Now) -> None:
    """Check what concerns the request alone, find or make the group, and let the member in."""
    known = shard.groups.get(request.group_id)
    group = known or ClassicGroup(request.group_id, now.wall_ms)
    joining = _Joining(shard, group, request, caller, now)
    if error := _check(shard, request, caller.api_version, known is not None):
        joining.refuse(error, request.member_id)
        return
    if known is None:  # also for someone who is not let in
        shard.groups[group.group_id] = group
        shard.outbox.write([new_group_record(group.group_id, now.wall_ms)], _GroupCreated(shard, group))
    if not joining.has_room():
        joining.turn_away()
    elif not group.supports(request.protocol_type, joining.protocols):
        joining.refuse(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, request.member_id)
    else:
        joining.let_in()


def _check(shard: ShardState, request: JoinGroupRequest, version: int, group_exists: bool) -> ErrorCode:
    if fault := fault_of(request, version, shard.settings):
        return fault
    return ErrorCode.UNKNOWN_MEMBER_ID if request.member_id and not group_exists else ErrorCode.NONE


@dataclass(frozen=True, slots=True)
class _GroupCreated:
    """If the log refused the group, there is none."""

    shard: ShardState
    group: ClassicGroup

    def committed(self, now: Now) -> Effects:  # noqa: ARG002
        return []

    def failed(self, error: ErrorCode, now: Now) -> Effects:  # noqa: ARG002
        shard, group = self.shard, self.group
        if group.group_id not in shard.stored_groups and shard.groups.get(group.group_id) is group:
            for member in group.members.values():
                rebalance.answer_join(shard, group, member, error_for_clients(error), member_id="")
            shard.drop_group(group.group_id)
        return shard.outbox.drain()


@dataclass(frozen=True, slots=True)
class _Joining:
    """One JoinGroup that is being decided on."""

    shard: ShardState
    group: ClassicGroup
    request: JoinGroupRequest
    caller: Caller
    now: Now

    @property
    def protocols(self) -> Protocols:
        return tuple((protocol.name, protocol.metadata) for protocol in self.request.protocols)

    @property
    def rebalance_timeout_ms(self) -> int:
        is_oldest = self.caller.api_version == 0
        return self.request.session_timeout_ms if is_oldest else self.request.rebalance_timeout_ms

    def refuse(self, error: ErrorCode, member_id: str) -> None:
        self.shard.outbox.reply(self.caller.handle, refuse_join(self.caller.api_version, error, member_id))

    def has_room(self) -> bool:
        """In a rebalance those count who have joined it: if the limit was lowered, the last ones to join are out."""
        max_members = self.shard.settings.max_members
        member = self.group.members.get(self.request.member_id)
        match self.group.state:
            case GroupState.EMPTY:
                return True
            case GroupState.PREPARING_REBALANCE:
                is_waiting = member is not None and member.joining is not None
                return is_waiting or self.group.joining_count < max_members
            case _:
                return member is not None or len(self.group.members) < max_members

    def turn_away(self) -> None:
        """The group is full, also for whoever had a place in it."""
        shard, group, member_id = self.shard, self.group, self.request.member_id
        self.refuse(ErrorCode.GROUP_MAX_SIZE_REACHED, "")
        group.pending_member_ids.discard(member_id)
        shard.deadlines.cancel(session_key(group.group_id, member_id))
        if member := group.members.get(member_id):
            rebalance.remove_member(shard, group, member)
        rebalance.complete_if_all_joined(shard, group, self.now)

    def let_in(self) -> None:
        """There is room, and the member fits in."""
        group, request = self.group, self.request
        if request.member_id in group.pending_member_ids and request.group_instance_id is None:
            self._add(request.member_id)
        elif request.member_id:
            self._rejoin()
        elif request.group_instance_id is None:
            self._add_dynamic(f"{self.caller.client_id}-{self.shard.new_id()}")
        else:
            self._add_static(request.group_instance_id, f"{request.group_instance_id}-{self.shard.new_id()}")

    def _add_dynamic(self, member_id: str) -> None:
        if self.caller.api_version < _MEMBER_ID_REQUIRED_VERSION:
            self._add(member_id)
            return
        shard, group = self.shard, self.group
        group.pending_member_ids.add(member_id)
        due_ms = self.now.monotonic_ms + self.request.session_timeout_ms
        on_overdue = partial(_on_pending_overdue, shard, group, member_id)
        shard.deadlines.set(session_key(group.group_id, member_id), due_ms, on_overdue)
        self.refuse(ErrorCode.MEMBER_ID_REQUIRED, member_id)

    def _add_static(self, instance_id: str, member_id: str) -> None:
        if former_id := self.group.static_member_ids.get(instance_id):
            self._replace_static(self.group.members[former_id], member_id)
        else:
            self._add(member_id)

    def _add(self, member_id: str) -> None:
        shard, group, request = self.shard, self.group, self.request
        member = Member(
            member_id=member_id,
            group_instance_id=request.group_instance_id,
            client_id=self.caller.client_id,
            client_host=f"/{self.caller.client_host}",
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            session_timeout_ms=request.session_timeout_ms,
            protocols=self.protocols,
            is_new=True,
        )
        group.has_new_members = True
        group.add(member, request.protocol_type)
        rebalance.wait_for_join(shard, group, member, self.caller)
        # Clients that lose patience and join as somebody new would fill a long rebalance with members that are gone.
        rebalance.renew_session(shard, group, member, self.now, shard.settings.new_member_join_timeout_ms)
        rebalance.prepare_or_complete(shard, group, self.now)

    def _rejoin(self) -> None:
        group, request = self.group, self.request
        if error := group.check_member(request.member_id, request.group_instance_id):
            self.refuse(error, request.member_id)
            return
        member = group.members[request.member_id]
        if self._may_keep_its_generation(member):
            self.shard.outbox.reply(self.caller.handle, responses.joined(group, member))
            return
        self._update(member)
        rebalance.prepare_or_complete(self.shard, group, self.now)

    def _may_keep_its_generation(self, member: Member) -> bool:
        """It may have missed the response. But the leader of a stable group has its reasons to ask again."""
        if member.protocols != self.protocols:
            return False
        if self.group.state is GroupState.COMPLETING_REBALANCE:
            return True
        return self.group.state is GroupState.STABLE and self.group.leader_id != member.member_id

    def _update(self, member: Member) -> None:
        self.group.update(member, self.protocols, self.rebalance_timeout_ms, self.request.session_timeout_ms)
        rebalance.wait_for_join(self.shard, self.group, member, self.caller)

    def _replace_static(self, member: Member, new_member_id: str) -> None:
        shard, group = self.shard, self.group
        former_leader_id = group.leader_id
        shard.deadlines.cancel(session_key(group.group_id, member.member_id))
        rebalance.answer_join(shard, group, member, ErrorCode.FENCED_INSTANCE_ID, member.member_id)
        rebalance.answer_sync(shard, group, member, ErrorCode.FENCED_INSTANCE_ID)
        group.rename_static(member, new_member_id)
        self._update(member)
        rebalance.renew_session(shard, group, member, self.now)
        if group.state is GroupState.STABLE and group.choose_protocol() == group.protocol_name:
            assignments = {m.member_id: m.assignment for m in group.members.values()}
            outcome = _StaticMemberStored(shard, group, member, self.caller, former_leader_id)
            shard.outbox.write([group_record(group, assignments)], outcome)
        else:
            rebalance.prepare_or_complete(shard, group, self.now)


def _on_pending_overdue(shard: ShardState, group: ClassicGroup, member_id: str, now: Now) -> None:
    group.pending_member_ids.discard(member_id)
    if group.state is GroupState.PREPARING_REBALANCE:
        rebalance.on_member_lost(shard, group, now)


@dataclass(frozen=True, slots=True)
class _StaticMemberStored:
    """The new id is known to whoever coordinates next, so the member may use it.

    If it could not be stored, the former self stays fenced: a new one has started. It is refused, and tries again.
    """

    shard: ShardState
    group: ClassicGroup
    member: Member
    caller: Caller
    former_leader_id: str | None

    def committed(self, now: Now) -> Effects:
        if self._still_waits():
            self.group.set_joining(self.member, None)
            rebalance.renew_session(self.shard, self.group, self.member, now)
            self.shard.outbox.reply(self.caller.handle, self._response())
        return self.shard.outbox.drain()

    def failed(self, error: ErrorCode, now: Now) -> Effects:
        if self._still_waits():
            rebalance.renew_session(self.shard, self.group, self.member, now)
            rebalance.answer_join(self.shard, self.group, self.member, error_for_clients(error), member_id="")
        return self.shard.outbox.drain()

    def _still_waits(self) -> bool:
        """If a rebalance has begun meanwhile, the member has joined it and is answered with everybody else."""
        return self.member.joining is self.caller and self.group.state is GroupState.STABLE

    def _response(self) -> JoinGroupResponse:
        if self.caller.api_version < _SKIP_ASSIGNMENT_VERSION:
            return responses.joined(self.group, self.member, leader_id=self.former_leader_id)
        is_leader = self.group.leader_id == self.member.member_id
        return responses.joined(self.group, self.member, skip_assignment=is_leader)
