"""A shard of the group coordinator on the model runtime, with short words for what tests do all the time."""

from collections.abc import Mapping
from itertools import count
from typing import Any

from kafkish.coordinators.groups.classic.group import ClassicGroup
from kafkish.coordinators.groups.records import KINDS
from kafkish.coordinators.groups.settings import GroupSettings
from kafkish.coordinators.groups.shard import GroupShard
from kafkish.tests.coordinators.groups import requests
from kafkish.tests.coordinators.model_runtime import ModelRuntime
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.join_group import JoinGroupResponse
from kafkish_protocol.schema import Request

INITIAL_DELAY_MS = 100
NEWEST = {"JoinGroupRequest": 9, "SyncGroupRequest": 5, "HeartbeatRequest": 4, "LeaveGroupRequest": 5}
NEWEST |= {"OffsetCommitRequest": 9, "OffsetFetchRequest": 9, "OffsetDeleteRequest": 0}
NEWEST |= {"ListGroupsRequest": 5, "DescribeGroupsRequest": 6, "DeleteGroupsRequest": 2}


class GroupModel(ModelRuntime):
    """Sends requests to a `GroupShard` in their newest version (offsets: by name) unless told otherwise."""

    shard: GroupShard

    def __init__(self, *, commits_at_once: bool = True, **settings: int) -> None:
        self.settings = GroupSettings(**{"initial_rebalance_delay_ms": INITIAL_DELAY_MS, **settings})
        self._ids = count(1)
        super().__init__(self.make_group_shard, KINDS, commits_at_once=commits_at_once)

    def make_group_shard(self) -> GroupShard:
        """Member ids end in 1, 2, 3, …"""
        return GroupShard(self.settings, lambda: f"{next(self._ids)}")

    def group(self, group_id: str = "g") -> ClassicGroup:
        """The live group."""
        return self.shard.state.groups[group_id]

    def start(self, request: Request, version: int | None = None, client_id: str = "client") -> int:
        """Send, without a look at the answer."""
        return self.send(request, NEWEST[type(request).__name__] if version is None else version, client_id)

    def ask(self, request: Request, version: int | None = None, client_id: str = "client") -> Any:
        """Send and get the answer, which must be there at once."""
        handle = self.start(request, version, client_id)
        assert handle in self.replies, f"{request} waits"
        return self.replies[handle]

    def error(self, request: Request, version: int | None = None) -> ErrorCode:
        """The answer's error."""
        return ErrorCode(self.ask(request, version).error_code)

    def answer(self, handle: int) -> Any:
        """The answer to what was started, which must be there by now."""
        assert handle in self.replies, f"{self.requests[handle]} still waits"
        return self.replies[handle]

    # -- groups

    def start_join(self, member: str = "", **options: Any) -> int:
        """Join as a client of today does: get a member id first if there is none."""
        version = options.pop("version", 9)
        if not member and options.get("instance") is None and version >= 4:
            response = self.ask(requests.join(member="", **options), version)
            assert response.error_code == ErrorCode.MEMBER_ID_REQUIRED
            member = response.member_id
        return self.start(requests.join(member=member, **options), version)

    def form(self, size: int, *, group: str = "g", **options: Any) -> list[JoinGroupResponse]:
        """Let members join an empty group and wait until they are told; the leader's response comes first."""
        handles = [self.start_join(group=group, **options) for _ in range(size)]
        self.advance(2 * INITIAL_DELAY_MS)  # one more delay, for those who came after the first
        joined = [self.answer(handle) for handle in handles]
        assert all(response.error_code == 0 for response in joined)
        return sorted(joined, key=lambda response: response.member_id != response.leader)

    def stabilise(self, size: int, *, group: str = "g", **options: Any) -> list[str]:
        """A stable group of so many new members, each assigned its own id's bytes; the leader comes first."""
        joined = self.form(size, group=group, **options)
        members, generation = [response.member_id for response in joined], joined[0].generation_id
        protocol = (self.group(group).protocol_type, joined[0].protocol_name)
        assignments = {member: member.encode() for member in members}
        for member in members:
            given = assignments if member == members[0] else None
            response = self.ask(requests.sync(group, member, generation, given, protocol=protocol))
            assert response.error_code == 0
        return members

    def state_name(self, group: str = "g") -> str:
        """As an administrator sees it."""
        state: str = self.ask(requests.describe(group)).groups[0].group_state
        return state

    def committed(self, group: str = "g") -> dict[tuple[str, int], int]:
        """All offsets of a group."""
        (answer,) = self.ask(requests.fetch(group, None)).groups
        return {(t.name, p.partition_index): p.committed_offset for t in answer.topics for p in t.partitions}

    def durable(self) -> tuple[dict[Any, Any], Mapping[str, Any]]:
        """What must be the same after the log is read again."""
        return dict(self.shard.state.offsets.items()), self.shard.state.stored_groups
