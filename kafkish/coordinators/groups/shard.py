"""One shard of the group coordinator: the groups in one partition of `__consumer_offsets`. See `coordinators.shard`.

Requests reach the shard that their group belongs to (`routing`). Authorisation, and whether topics exist, is not known
here. Group types to come are further entries in the two tables below, and further groups beside the classic ones.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from kafkish.coordinators.effects import Effects, Unobserved
from kafkish.coordinators.groups.classic import rebalance
from kafkish.coordinators.groups.classic.describe_groups import describe_groups
from kafkish.coordinators.groups.classic.group import ClassicGroup
from kafkish.coordinators.groups.classic.heartbeat import heartbeat
from kafkish.coordinators.groups.classic.join_group import join_group
from kafkish.coordinators.groups.classic.leave_group import leave_group
from kafkish.coordinators.groups.classic.sync_group import sync_group
from kafkish.coordinators.groups.delete_groups import delete_groups
from kafkish.coordinators.groups.expiry import schedule_expiry
from kafkish.coordinators.groups.list_groups import list_groups
from kafkish.coordinators.groups.offset_commit import offset_commit
from kafkish.coordinators.groups.offset_delete import offset_delete
from kafkish.coordinators.groups.offset_fetch import offset_fetch
from kafkish.coordinators.groups.records import offset_tombstone
from kafkish.coordinators.groups.settings import GroupSettings
from kafkish.coordinators.groups.state import ShardState
from kafkish.coordinators.inputs import Caller, Now
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.delete_groups import DeleteGroupsRequest
from kafkish_protocol.messages.describe_groups import DescribeGroupsRequest
from kafkish_protocol.messages.heartbeat import HeartbeatRequest
from kafkish_protocol.messages.join_group import JoinGroupRequest
from kafkish_protocol.messages.leave_group import LeaveGroupRequest
from kafkish_protocol.messages.list_groups import ListGroupsRequest
from kafkish_protocol.messages.offset_commit import OffsetCommitRequest
from kafkish_protocol.messages.offset_delete import OffsetDeleteRequest
from kafkish_protocol.messages.offset_fetch import OffsetFetchRequest
from kafkish_protocol.messages.sync_group import SyncGroupRequest
from kafkish_protocol.schema import CoordinatorKey, CoordinatorValue, Request
from kafkish_protocol.stored.classic_group import GroupMetadataKey
from kafkish_protocol.stored.offset_commit import LegacyOffsetCommitKey, OffsetCommitKey, OffsetCommitValue
from kafkish_protocol.types import Uuid

Operation: TypeAlias = Callable[[ShardState, Any, Caller, Now], None]

OPERATIONS: Final[dict[type[Request], Operation]] = {
    JoinGroupRequest: join_group,
    SyncGroupRequest: sync_group,
    HeartbeatRequest: heartbeat,
    LeaveGroupRequest: leave_group,
    DescribeGroupsRequest: describe_groups,
    ListGroupsRequest: list_groups,
    DeleteGroupsRequest: delete_groups,
    OffsetCommitRequest: offset_commit,
    OffsetFetchRequest: offset_fetch,
    OffsetDeleteRequest: offset_delete,
}


def _replay_legacy_offset(state: ShardState, key: LegacyOffsetCommitKey, value: Any) -> None:
    """What brokers before 0.9 wrote. Its next commit is written as today."""
    modern = OffsetCommitKey(group=key.group, topic=key.topic, partition=key.partition)
    if value is not None:
        value = OffsetCommitValue(offset=value.offset, metadata=value.metadata, commit_timestamp=value.commit_timestamp)
    state.replay_offset(modern, value)


REPLAYS: Final[dict[type[CoordinatorKey], Callable[[ShardState, Any, Any], None]]] = {
    GroupMetadataKey: ShardState.replay_group,
    OffsetCommitKey: ShardState.replay_offset,
    LegacyOffsetCommitKey: _replay_legacy_offset,
}


class GroupShard:
    """A `coordinators.shard.Shard` of groups. Making one is the start of a term."""

    def __init__(self, settings: GroupSettings, new_id: Callable[[], str]) -> None:
        self.state = ShardState(settings, new_id)

    def handle(self, request: Request, caller: Caller, now: Now) -> Effects:
        OPERATIONS[type(request)](self.state, request, caller, now)
        return self.state.outbox.drain()

    def replay(self, key: CoordinatorKey, value: CoordinatorValue | None) -> None:
        REPLAYS[type(key)](self.state, key, value)

    def on_loaded(self, now: Now) -> Effects:
        """Sessions begin anew: their members could not reach anybody. Groups that are too big now shrink."""
        self.state.go_live()
        for group in self.state.groups.values():
            for member in group.members.values():
                rebalance.renew_session(self.state, group, member, now)
            if len(group.members) > self.state.settings.max_members:
                rebalance.prepare(self.state, group, now)
        schedule_expiry(self.state, now)
        return self.state.outbox.drain()

    def on_resigned(self, now: Now) -> Effects:  # noqa: ARG002
        for group in list(self.state.groups.values()):
            self._send_away(group)
            self.state.drop_group(group.group_id)
        return self.state.outbox.drain()

    def _send_away(self, group: ClassicGroup) -> None:
        for member in group.members.values():
            rebalance.answer_join(self.state, group, member, ErrorCode.NOT_COORDINATOR, member.member_id)
            rebalance.answer_sync(self.state, group, member, ErrorCode.NOT_COORDINATOR)

    def on_topics_deleted(self, topics: Iterable[tuple[str, Uuid]]) -> Effects:
        """Forget what was committed for topics that are no more; a new topic of that name starts without."""
        records = [
            offset_tombstone(group_id, name, partition)
            for name, topic_id in topics
            for group_id, partition in self.state.offsets.of_topic(name, topic_id)
        ]
        if records:
            self.state.outbox.write(records, Unobserved())
        return self.state.outbox.drain()

    def next_deadline_ms(self) -> int | None:
        return self.state.deadlines.next_ms()

    def tick(self, now: Now) -> Effects:
        self.state.deadlines.run_due(now)
        return self.state.outbox.drain()
