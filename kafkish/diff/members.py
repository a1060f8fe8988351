"""What members of classic groups do: join, sync, heartbeat, commit and leave, in and out of turn."""

from random import Random
from typing import Any

from kafkish.diff.script import Step
from kafkish.diff.vocabulary import subscription
from kafkish.diff.world import Member, World
from kafkish_protocol.messages.heartbeat import HeartbeatRequest
from kafkish_protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kafkish_protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from kafkish_protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkish_protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from kafkish_protocol.versions import Versions

SESSION_MS = 1_800_000
"""Longer than a run: when a member expires is not compared."""


class Members:
    """Each member has a lane of its own, since it may wait for the others."""

    def __init__(self, random: Random, world: World, versions: dict[int, Versions]) -> None:
        self.random = random
        self.world = world
        self._versions = versions
        self._next_lane = 100

    def step(self) -> Step:
        """The next request of some member."""
        free = [each for each in self.world.members if not each.is_asked]
        if len(self.world.members) < 4 and (not free or self.random.random() < 0.15):
            return self._join(self._new_member())
        if not free:
            self.world.leave_behind(self.world.members[0].group)
            return self.step()
        member = self.random.choice(free)
        if member.id and member.generation < 0:
            return self._join(member)
        if self._others_wait(member) and self.random.random() < 0.6:
            return self._sync(member) if not member.is_synced else self._join(member)
        moves = (self._sync, self._sync, self._heartbeat, self._heartbeat, self._commit, self._join, self._leave)
        return self.random.choice(moves)(member)

    def _others_wait(self, member: Member) -> bool:
        return any(each.is_asked and each.group == member.group for each in self.world.members)

    def _new_member(self) -> Member:
        self._next_lane += 1
        instance = self.random.choice((None, None, None, "i1", "i2"))
        member = Member(self.random.choice(self.world.group_names()[:2]), self._next_lane, instance)
        self.world.members.append(member)
        return member

    def _made(self, member: Member, request: Any, **since: tuple[int, Any]) -> Step:
        """In some version; `since` holds what only later versions have."""
        version = self.random.choice(list(self._versions[request.schema.api_key]))
        for name, (first, value) in since.items():
            if version >= first:
                setattr(request, name, value)
        return Step(member.lane, request, version)

    def _join(self, member: Member) -> Step:
        names = self.random.choice((("range",), ("range", "roundrobin"), ("range",), ("sticky",)))
        request = JoinGroupRequest(
            group_id=member.group, session_timeout_ms=SESSION_MS, member_id=member.id, protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name=name, metadata=self._subscription()) for name in names],
            rebalance_timeout_ms=SESSION_MS,
        )  # fmt: skip
        member.is_asked = True
        return self._made(member, request, group_instance_id=(5, member.instance))

    def _subscription(self) -> bytes:
        return subscription(self.world, self.random)

    def _sync(self, member: Member) -> Step:
        rows = [SyncGroupRequestAssignment(member_id=each, assignment=b"a") for each in member.leads or ()]
        request = SyncGroupRequest(
            group_id=member.group, generation_id=self._generation(member), member_id=member.id, assignments=rows
        )
        member.is_asked = True
        names = {"protocol_type": (5, "consumer"), "protocol_name": (5, "range")}
        return self._made(member, request, group_instance_id=(3, member.instance), **names)

    def _heartbeat(self, member: Member) -> Step:
        request = HeartbeatRequest(group_id=member.group, generation_id=self._generation(member), member_id=member.id)
        return self._made(member, request, group_instance_id=(3, member.instance))

    def _commit(self, member: Member) -> Step:
        topic = self.random.choice(list(self.world.topics.values()))
        partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=self.random.randrange(9))
        request = OffsetCommitRequest(
            group_id=member.group, generation_id_or_member_epoch=self._generation(member), member_id=member.id,
            topics=[OffsetCommitRequestTopic(name=topic.name, topic_id=topic.id, partitions=[partition])],
        )  # fmt: skip
        return self._made(member, request, group_instance_id=(7, member.instance))

    def _leave(self, member: Member) -> Step:
        if not self.world.may_leave(member):
            return self._heartbeat(member)
        self.world.members.remove(member)
        identity = MemberIdentity(member_id=member.id, group_instance_id=member.instance)
        made = self._made(member, LeaveGroupRequest(group_id=member.group), members=(3, [identity]))
        if made.version < 3:
            made.request.member_id = member.id  # type: ignore[attr-defined]
        return made

    def _generation(self, member: Member) -> int:
        return member.generation + self.random.choice((0, 0, 0, 0, 0, 0, 1, -1))
