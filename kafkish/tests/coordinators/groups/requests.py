"""Requests of the group APIs in a few words, for tests."""

from collections.abc import Mapping, Sequence

from kafkish_protocol.messages.delete_groups import DeleteGroupsRequest
from kafkish_protocol.messages.describe_groups import DescribeGroupsRequest
from kafkish_protocol.messages.heartbeat import HeartbeatRequest
from kafkish_protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kafkish_protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from kafkish_protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkish_protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafkish_protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kafkish_protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from kafkish_protocol.stored.consumer_protocol import ConsumerProtocolSubscription
from kafkish_protocol.types import ZERO_UUID, Uuid

SESSION_MS = 10_000
REBALANCE_MS = 60_000


def subscription(*topics: str) -> bytes:
    """What a consumer says when it joins."""
    return b"\0\0" + ConsumerProtocolSubscription(topics=list(topics)).encode(0)


RANGE = {"range": subscription("t")}


def join(
    group: str = "g",
    member: str = "",
    *,
    instance: str | None = None,
    protocols: Mapping[str, bytes] | None = None,
    protocol_type: str = "consumer",
    session_ms: int = SESSION_MS,
    rebalance_ms: int = REBALANCE_MS,
) -> JoinGroupRequest:
    """JoinGroup."""
    offered = RANGE if protocols is None else protocols
    return JoinGroupRequest(
        group_id=group,
        member_id=member,
        group_instance_id=instance,
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=rebalance_ms,
        protocol_type=protocol_type,
        protocols=[JoinGroupRequestProtocol(name=name, metadata=metadata) for name, metadata in offered.items()],
    )


def sync(
    group: str,
    member: str,
    generation: int,
    assignments: Mapping[str, bytes] | None = None,
    *,
    instance: str | None = None,
    protocol: tuple[str | None, str | None] = ("consumer", "range"),
) -> SyncGroupRequest:
    """SyncGroup."""
    return SyncGroupRequest(
        group_id=group,
        member_id=member,
        generation_id=generation,
        group_instance_id=instance,
        protocol_type=protocol[0],
        protocol_name=protocol[1],
        assignments=[SyncGroupRequestAssignment(member_id=m, assignment=a) for m, a in (assignments or {}).items()],
    )


def heartbeat(group: str, member: str, generation: int, *, instance: str | None = None) -> HeartbeatRequest:
    """Heartbeat."""
    return HeartbeatRequest(group_id=group, member_id=member, generation_id=generation, group_instance_id=instance)


def leave(group: str, *members: str | tuple[str, str | None]) -> LeaveGroupRequest:
    """LeaveGroup of members, or of pairs of a member id and an instance id. Fits all versions for one member."""
    pairs = [(member, None) if isinstance(member, str) else member for member in members]
    identities = [MemberIdentity(member_id=m, group_instance_id=i) for m, i in pairs]
    return LeaveGroupRequest(group_id=group, member_id=pairs[0][0], members=identities)


def commit(
    group: str,
    offsets: Mapping[tuple[str, int], int],
    *,
    member: str = "",
    generation: int = -1,
    instance: str | None = None,
    metadata: str | None = "",
    leader_epoch: int = -1,
    retention_ms: int = -1,
    topic_id: Uuid = ZERO_UUID,
) -> OffsetCommitRequest:
    """OffsetCommit: (topic, partition) -> offset."""
    return OffsetCommitRequest(
        group_id=group,
        member_id=member,
        generation_id_or_member_epoch=generation,
        group_instance_id=instance,
        retention_time_ms=retention_ms,
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                topic_id=topic_id,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=partition,
                        committed_offset=offset,
                        committed_leader_epoch=leader_epoch,
                        committed_metadata=metadata,
                    )
                    for (t, partition), offset in offsets.items()
                    if t == topic
                ],
            )
            for topic in dict.fromkeys(t for t, _ in offsets)
        ],
    )


def fetch(
    group: str, partitions: Mapping[str, Sequence[int]] | None, *, topic_id: Uuid = ZERO_UUID, stable: bool = False
) -> OffsetFetchRequest:
    """OffsetFetch of one group in version 8 or later; None asks for all that it has committed."""
    topics = None
    if partitions is not None:
        topics = [
            OffsetFetchRequestTopics(name=name, topic_id=topic_id, partition_indexes=list(indexes))
            for name, indexes in partitions.items()
        ]
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=topics)], require_stable=stable)


def delete_offsets(group: str, partitions: Mapping[str, Sequence[int]]) -> OffsetDeleteRequest:
    """OffsetDelete."""
    return OffsetDeleteRequest(
        group_id=group,
        topics=[
            OffsetDeleteRequestTopic(
                name=name, partitions=[OffsetDeleteRequestPartition(partition_index=i) for i in indexes]
            )
            for name, indexes in partitions.items()
        ],
    )


def describe(*groups: str) -> DescribeGroupsRequest:
    """DescribeGroups."""
    return DescribeGroupsRequest(groups=list(groups))


def delete(*groups: str) -> DeleteGroupsRequest:
    """DeleteGroups."""
    return DeleteGroupsRequest(groups_names=list(groups))
