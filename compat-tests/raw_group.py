"""The classic group protocol, one request at a time, for tests that stop it half way."""

from typing import Any

import control
from kafka.protocol.consumer import JoinGroupRequest, OffsetCommitRequest, OffsetFetchRequest, SyncGroupRequest
from wire import Wire

MEMBER_ID_REQUIRED, FENCED_INSTANCE_ID = 79, 82


def join_request(
    group: str,
    member_id: str = "",
    *,
    instance_id: str | None = None,
    protocols: dict[str, bytes] | None = None,
    rebalance_timeout_ms: int = 20_000,
) -> JoinGroupRequest:
    entry = JoinGroupRequest.JoinGroupRequestProtocol
    return JoinGroupRequest(
        group_id=group,
        session_timeout_ms=6000,
        rebalance_timeout_ms=rebalance_timeout_ms,
        member_id=member_id,
        group_instance_id=instance_id,
        protocol_type="consumer",
        protocols=[entry(name=name, metadata=data) for name, data in (protocols or {"range": b"any"}).items()],
        reason=None,
    )


def new_member_id(wire: Wire, group: str, **settings: Any) -> str:
    """The id that the coordinator gives to a member that comes without one."""
    control.wait_for_group(wire, group)
    answer = wire.send(join_request(group, **settings), 9)
    assert answer.error_code == MEMBER_ID_REQUIRED, answer
    member_id: str = answer.member_id
    return member_id


def post_join(wire: Wire, group: str, member_id: str, **settings: Any) -> Any:
    return wire.post(join_request(group, member_id, **settings), 9)


def join(wire: Wire, group: str, member_id: str, **settings: Any) -> Any:
    """Join and wait for the rebalance to end."""
    control.wait_for_group(wire, group)
    return wire.send(join_request(group, member_id, **settings), 9)


def post_sync(
    wire: Wire, group: str, joined: Any, assignments: dict[str, bytes] | None = None, instance_id: str | None = None
) -> Any:
    entry = SyncGroupRequest.SyncGroupRequestAssignment
    request = SyncGroupRequest(
        group_id=group,
        generation_id=joined.generation_id,
        member_id=joined.member_id,
        group_instance_id=instance_id,
        protocol_type="consumer",
        protocol_name=joined.protocol_name,
        assignments=[entry(member_id=member, assignment=data) for member, data in (assignments or {}).items()],
    )
    return wire.post(request, 5)


def sync(wire: Wire, group: str, joined: Any, assignments: dict[str, bytes] | None = None, **settings: Any) -> Any:
    return wire.receive(post_sync(wire, group, joined, assignments, **settings))


# -- offsets


def commit(
    wire: Wire,
    group: str,
    topic: str,
    partition: int,
    offset: int,
    metadata: str = "",
    epoch: int = -1,
    *,
    retention_ms: int | None = None,
) -> int:
    """Commit without being a member; the partition's error code. Only versions up to 4 say for how long."""
    control.wait_for_group(wire, group)
    entry = OffsetCommitRequest.OffsetCommitRequestTopic
    part = entry.OffsetCommitRequestPartition(
        partition_index=partition,
        committed_offset=offset,
        committed_leader_epoch=epoch,
        committed_metadata=metadata,
    )
    request = OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        group_instance_id=None,
        retention_time_ms=-1 if retention_ms is None else retention_ms,
        topics=[entry(name=topic, partitions=[part])],
    )
    code: int = wire.send(request, 8 if retention_ms is None else 4).topics[0].partitions[0].error_code
    return code


def committed(wire: Wire, group: str) -> dict[tuple[str, int], tuple[int, int, str]]:
    """Offset, leader epoch and metadata of all that a group committed."""
    control.wait_for_group(wire, group)
    entry = OffsetFetchRequest.OffsetFetchRequestGroup(group_id=group, member_id=None, member_epoch=-1, topics=None)
    (found,) = wire.send(OffsetFetchRequest(groups=[entry], require_stable=True), 8).groups
    control.expect(found.error_code, f"offsets of {group}")
    return {
        (topic.name, part.partition_index): (part.committed_offset, part.committed_leader_epoch, part.metadata)
        for topic in found.topics
        for part in topic.partitions
    }
