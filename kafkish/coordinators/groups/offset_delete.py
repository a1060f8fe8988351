"""OffsetDelete (47): forget a group's offsets of some partitions.

Not of topics that a member reads, and not at all in a group with members of which the coordinator cannot tell. Whoever
hands requests in has seen that the partitions exist.
"""

from kafkish.coordinators.groups.group import Group
from kafkish.coordinators.groups.records import offset_tombstone
from kafkish.coordinators.groups.state import ShardState
from kafkish.coordinators.inputs import Caller, Now
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def offset_delete(shard: ShardState, request: OffsetDeleteRequest, caller: Caller, now: Now) -> None:  # noqa: ARG001
    """Write tombstones for what there is, and answer then."""
    group: Group | None = shard.groups.get(request.group_id)
    error = _check(group, request.group_id)
    if group is None or error:
        shard.refuse(request, caller, error)
        return
    doomed = {
        (topic.name, partition.partition_index)
        for topic in request.topics
        for partition in topic.partitions
        if not group.is_subscribed_to(topic.name)
        and shard.offsets.get(group.group_id, topic.name, partition.partition_index) is not None
    }
    records = [offset_tombstone(group.group_id, topic, partition) for topic, partition in sorted(doomed)]
    response = OffsetDeleteResponse(topics=[_answer(group, topic) for topic in request.topics])
    shard.reply_when_committed(records, request, caller, response)


def _check(group: Group | None, group_id: str) -> ErrorCode:
    if not group_id:
        return ErrorCode.INVALID_GROUP_ID
    return ErrorCode.GROUP_ID_NOT_FOUND if group is None else group.check_offset_delete()


def _answer(group: Group, topic: OffsetDeleteRequestTopic) -> OffsetDeleteResponseTopic:
    error = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if group.is_subscribed_to(topic.name) else ErrorCode.NONE
    partitions = [
        OffsetDeleteResponsePartition(partition_index=asked.partition_index, error_code=error)
        for asked in topic.partitions
    ]
    return OffsetDeleteResponseTopic(name=topic.name, partitions=partitions)
