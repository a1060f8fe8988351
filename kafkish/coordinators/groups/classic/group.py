"""A classic group as it lives in memory: its state, its members, and who waits.

    Empty -> PreparingRebalance                 somebody joins
    PreparingRebalance -> CompletingRebalance   everybody has joined, or time is up for the rest
    PreparingRebalance -> Empty                 nobody is left
    CompletingRebalance -> Stable               the leader's assignment is stored
    CompletingRebalance, Stable -> PreparingRebalance    a member comes, goes, or wants something else
    any -> Dead                                 deleted, or the coordinator has moved

It runs ahead of the log: what a rebalance is up to is not stored, only its result. A group that is loaded from the log
is Stable or Empty, and members that were further on are told so by its generation. Knows no time, timers or responses.
"""

from collections import Counter
from enum import Enum
from typing import Final

from kafkish.coordinators.effects import StoredRecord
from kafkish.coordinators.groups.classic.member import Member, Protocols
from kafkish.coordinators.groups.classic.subscription import subscribed_topics
from kafkish.coordinators.inputs import Caller
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.offset_commit import OffsetCommitRequest
from kafkish_protocol.stored.classic_group import GroupMetadataKey, GroupMetadataValue

CONSUMER_PROTOCOL_TYPE: Final = "consumer"


class GroupState(Enum):
    """The value is the name that clients see."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


LEGAL_NEXT_STATES: Final = {
    GroupState.EMPTY: {GroupState.PREPARING_REBALANCE, GroupState.DEAD},
    GroupState.PREPARING_REBALANCE: {GroupState.EMPTY, GroupState.COMPLETING_REBALANCE, GroupState.DEAD},
    GroupState.COMPLETING_REBALANCE: {GroupState.PREPARING_REBALANCE, GroupState.STABLE, GroupState.DEAD},
    GroupState.STABLE: {GroupState.PREPARING_REBALANCE, GroupState.DEAD},
    GroupState.DEAD: set[GroupState](),
}


class ClassicGroup:
    """One group. `group.Group` of classic type."""

    type_name = "classic"

    def __init__(self, group_id: str, state_since_ms: int | None = None) -> None:
        """An empty group without a protocol: what a first commit without members makes ("simple")."""
        self.group_id = group_id
        self.state = GroupState.EMPTY
        self.is_initial_rebalance = False  # the running rebalance began with an empty group
        self.state_since_ms = state_since_ms  # None if the log does not say
        self.generation_id = 0
        self.protocol_type = ""
        self.protocol_name: str | None = None
        self.leader_id: str | None = None
        self.members: dict[str, Member] = {}
        self.static_member_ids: dict[str, str] = {}  # by group instance id
        self.pending_member_ids: set[str] = set()  # were given an id, and have not come back with it yet
        self.pending_sync_ids: set[str] = set()  # have joined this generation, and not asked for their assignment yet
        self.assigned_generation_id = -1  # the last one whose assignment was sent to the log
        self.has_new_members = False  # since the delay of the initial rebalance was last extended
        self._topics: frozenset[str] | None = None  # None: unknown
        self._joining_count = 0
        self._supporters: Counter[str] = Counter()  # protocol -> members that support it

    @classmethod
    def load(cls, group_id: str, value: GroupMetadataValue) -> "ClassicGroup":
        """The group as the log has it."""
        group = cls(group_id, None if value.current_state_timestamp == -1 else value.current_state_timestamp)
        group.generation_id = value.generation
        group.protocol_type = value.protocol_type
        group.protocol_name = value.protocol
        group.leader_id = value.leader
        for stored in value.members:
            has_rebalance_timeout = stored.rebalance_timeout != -1
            member = Member(
                member_id=stored.member_id,
                group_instance_id=stored.group_instance_id,
                client_id=stored.client_id,
                client_host=stored.client_host,
                rebalance_timeout_ms=stored.rebalance_timeout if has_rebalance_timeout else stored.session_timeout,
                session_timeout_ms=stored.session_timeout,
                protocols=((value.protocol or "", stored.subscription),),
                assignment=stored.assignment,
            )
            group.add(member, value.protocol_type)
        group.state = GroupState.STABLE if group.members else GroupState.EMPTY
        group._topics = group._parse_topics()
        return group

    # -- states

    def move_to(self, state: GroupState, now_ms: int) -> None:
        """Change the state, as the table above allows."""
        assert state in LEGAL_NEXT_STATES[self.state], f"group {self.group_id}: {self.state} cannot become {state}"
        self.is_initial_rebalance = self.state is GroupState.EMPTY
        self.state = state
        self.state_since_ms = now_ms

    def begin_generation(self, now_ms: int) -> None:
        """Everybody who is here belongs to the next generation."""
        self.generation_id += 1
        self.protocol_name = self.choose_protocol()
        self._topics = self._parse_topics()
        self.pending_sync_ids = set(self.members)
        self.move_to(GroupState.COMPLETING_REBALANCE if self.members else GroupState.EMPTY, now_ms)

    # -- members

    def add(self, member: Member, protocol_type: str) -> None:
        """Take a member in. The first one is the leader, and its protocol type the group's."""
        if not self.members:
            self.protocol_type = protocol_type
        if member.group_instance_id is not None:
            self.static_member_ids[member.group_instance_id] = member.member_id
        self.members[member.member_id] = member
        self.pending_member_ids.discard(member.member_id)
        self._supporters.update(member.names)
        self.leader_id = self.leader_id or member.member_id

    def remove(self, member: Member) -> None:
        """Let a member go. Whoever of its requests waits must have been answered."""
        assert member.joining is None, "a member that leaves must not wait"
        assert member.syncing is None, "a member that leaves must not wait"
        del self.members[member.member_id]
        self.pending_sync_ids.discard(member.member_id)
        self._supporters.subtract(member.names)
        if member.group_instance_id is not None:
            del self.static_member_ids[member.group_instance_id]
        if self.leader_id == member.member_id:
            self.leader_id = next(iter(self.members), None)

    def rename_static(self, member: Member, new_member_id: str) -> None:
        """A static member has started anew: same place and assignment, new id. The old id is fenced from now on."""
        del self.members[member.member_id]
        self.pending_sync_ids.discard(member.member_id)
        if self.leader_id == member.member_id:
            self.leader_id = new_member_id
        member.member_id = new_member_id
        self.members[new_member_id] = member
        self.static_member_ids[member.group_instance_id or ""] = new_member_id

    def update(self, member: Member, protocols: Protocols, rebalance_timeout_ms: int, session_timeout_ms: int) -> None:
        """A member that joins again may support something else."""
        self._supporters.subtract(member.names)
        member.protocols = protocols
        self._supporters.update(member.names)
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_timeout_ms

    def set_joining(self, member: Member, caller: Caller | None) -> Caller | None:
        """Note which JoinGroup waits, or None; returns the one that waited before, which must be answered."""
        waited = member.joining
        member.joining = caller
        self._joining_count += (caller is not None) - (waited is not None)
        return waited

    @property
    def joining_count(self) -> int:
        """How many members wait for the next generation."""
        return self._joining_count

    @property
    def everyone_has_joined(self) -> bool:
        return self._joining_count == len(self.members) and not self.pending_member_ids

    @property
    def rebalance_timeout_ms(self) -> int:
        """As long as the most patient member allows."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def elect_leader_among_joined(self) -> bool:
        """Keep the leader if it has joined, else elect somebody who has; False if nobody has."""
        leader = self.members.get(self.leader_id or "")
        if leader is None or leader.joining is None:
            joined = (member.member_id for member in self.members.values() if member.joining is not None)
            elected = next(joined, None)
            if elected is None:
                return False
            self.leader_id = elected
        return True

    def check_member(self, member_id: str, group_instance_id: str | None) -> ErrorCode:
        """Is this a member, and the current one of its instance id?"""
        if group_instance_id is not None:
            current = self.static_member_ids.get(group_instance_id)
            if current is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if current != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    # -- protocols

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Could a member with these protocols work with those that are here?"""
        if self.state is GroupState.EMPTY:
            return bool(protocol_type and protocols)
        common = any(self._supporters[name] == len(self.members) for name, _ in protocols)
        return protocol_type == self.protocol_type and common

    def choose_protocol(self) -> str | None:
        """Each member votes for the first of its protocols that all support; None if there are no members."""
        candidates = {name for name, count in self._supporters.items() if count == len(self.members)}
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return votes.most_common(1)[0][0] if votes else None

    @property
    def uses_consumer_protocol(self) -> bool:
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    def _parse_topics(self) -> frozenset[str] | None:
        if not self.uses_consumer_protocol:
            return None
        return subscribed_topics(member.metadata(self.protocol_name) for member in self.members.values())

    # -- group.Group

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def is_disposable(self) -> bool:
        return self.state is GroupState.EMPTY and not self.pending_member_ids

    def check_commit(self, request: OffsetCommitRequest) -> ErrorCode:
        generation_id = request.generation_id_or_member_epoch
        if generation_id < 0 and self.state is GroupState.EMPTY:
            return ErrorCode.NONE  # an administrator, or a consumer that assigns itself
        if generation_id < 0 and not request.member_id and request.group_instance_id is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        error = self.check_member(request.member_id, request.group_instance_id)
        if not error and generation_id != self.generation_id:
            return ErrorCode.ILLEGAL_GENERATION
        if not error and self.state is GroupState.COMPLETING_REBALANCE:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return error

    def check_offset_delete(self) -> ErrorCode:
        if self.state is GroupState.EMPTY or self.uses_consumer_protocol:
            return ErrorCode.NONE
        return ErrorCode.NON_EMPTY_GROUP

    def check_delete(self) -> ErrorCode:
        return ErrorCode.NONE if self.state is GroupState.EMPTY else ErrorCode.NON_EMPTY_GROUP

    def is_subscribed_to(self, topic: str) -> bool:
        return self.uses_consumer_protocol if self._topics is None else topic in self._topics

    def retention_start_ms(self, commit_timestamp_ms: int) -> int | None:
        if not self.protocol_type:
            return commit_timestamp_ms
        if self.state is GroupState.EMPTY:
            return commit_timestamp_ms if self.state_since_ms is None else self.state_since_ms
        if self.state is GroupState.STABLE and self._topics is not None:
            return commit_timestamp_ms
        return None

    def tombstones(self) -> list[StoredRecord]:
        return [StoredRecord(GroupMetadataKey(group=self.group_id), None)]
