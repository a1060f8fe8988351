"""OffsetCommit (8): store how far a group has read.

- Members must be of the current generation. Without a generation (-1) and a member id anybody may commit to a group
  that has no members, or does not exist and so is made: administrators, and consumers that assign themselves.
- Versions 2 to 4 may say for how long; later the group's retention holds (KIP-211).
- Whoever hands requests in has seen that the partitions exist, and has given every topic its name and its id.
"""

from collections.abc import Callable
from functools import partial

from kafkish.coordinators.effects import StoredRecord
from kafkish.coordinators.groups.classic.group import ClassicGroup
from kafkish.coordinators.groups.classic.heartbeat import on_commit
from kafkish.coordinators.groups.group import Group
from kafkish.coordinators.groups.java_strings import utf16_length
from kafkish.coordinators.groups.records import offset_record
from kafkish.coordinators.groups.state import ShardState
from kafkish.coordinators.inputs import Caller, Now
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafkish_protocol.stored.offset_commit import OffsetCommitValue

_GROUP_ID_NOT_FOUND_VERSION = 9
_GROUPS_RETENTION = -1


def offset_commit(shard: ShardState, request: OffsetCommitRequest, caller: Caller, now: Now) -> None:
    """Store what may be stored, and answer then."""
    if error := _check(shard.groups.get(request.group_id), request, caller.api_version):
        shard.refuse(request, caller, error)
        return
    on_commit(shard, request.group_id, request.member_id, now)
    check = partial(_check_partition, shard.settings.offset_metadata_max_chars)
    records = [
        _record(request, topic, partition, now)
        for topic in request.topics
        for partition in topic.partitions
        if not check(partition)
    ]
    if not records and request.group_id not in shard.groups:
        shard.groups[request.group_id] = ClassicGroup(request.group_id)  # as in Kafka: there, but not stored
    shard.reply_when_committed(records, request, caller, _respond(request, check))


def _check(group: Group | None, request: OffsetCommitRequest, version: int) -> ErrorCode:
    if group is not None:
        return group.check_commit(request)
    if request.generation_id_or_member_epoch < 0:
        return ErrorCode.NONE
    tells_apart = version >= _GROUP_ID_NOT_FOUND_VERSION
    return ErrorCode.GROUP_ID_NOT_FOUND if tells_apart else ErrorCode.ILLEGAL_GENERATION


def _check_partition(metadata_max_chars: int, partition: OffsetCommitRequestPartition) -> ErrorCode:
    fits = utf16_length(partition.committed_metadata or "") <= metadata_max_chars
    return ErrorCode.NONE if fits else ErrorCode.OFFSET_METADATA_TOO_LARGE


def _record(
    request: OffsetCommitRequest, topic: OffsetCommitRequestTopic, partition: OffsetCommitRequestPartition, now: Now
) -> StoredRecord:
    value = OffsetCommitValue(
        offset=partition.committed_offset,
        metadata=partition.committed_metadata or "",
        commit_timestamp=now.wall_ms,
    )
    if request.retention_time_ms == _GROUPS_RETENTION:
        value.leader_epoch = partition.committed_leader_epoch
        value.topic_id = topic.topic_id
    else:  # the version of the record that can say this has room for neither
        value.expire_timestamp = now.wall_ms + request.retention_time_ms
    return offset_record(request.group_id, topic.name, partition.partition_index, value)


def _respond(
    request: OffsetCommitRequest, error_of: Callable[[OffsetCommitRequestPartition], ErrorCode]
) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(partition_index=asked.partition_index, error_code=error_of(asked))
                    for asked in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
