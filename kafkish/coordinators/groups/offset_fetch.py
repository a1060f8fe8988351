"""OffsetFetch (9): ask how far groups have read.

- Until version 7 of one group, from version 8 on of several; topics that are null mean all that it has committed.
- A partition without a commit, also in a group that does not exist, has offset -1 and no error.
- Whoever hands requests in has given topics that are asked for by id their names (version 10). An offset that was
  committed for another topic of that name is not shown.
- The answer waits until all that it shows is committed, with or without `require_stable`.
"""

from kafkish.coordinators.groups.offsets import Offsets
from kafkish.coordinators.groups.state import ShardState
from kafkish.coordinators.inputs import Caller, Now
from kafkish_protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from kafkish_protocol.stored.offset_commit import OffsetCommitValue

_SEVERAL_VERSION = 8


def offset_fetch(shard: ShardState, request: OffsetFetchRequest, caller: Caller, now: Now) -> None:  # noqa: ARG001
    """Answer for each group, when nothing of it can be lost."""
    groups = [_fetch(shard.offsets, group) for group in _groups(request, caller.api_version)]
    shard.reply_when_committed((), request, caller, _as_version(groups, caller.api_version))


def _fetch(offsets: Offsets, group: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup:
    topics = _all_topics(offsets, group.group_id) if group.topics is None else group.topics
    return OffsetFetchResponseGroup(
        group_id=group.group_id,
        topics=[
            OffsetFetchResponseTopics(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    _partition(index, offsets.get(group.group_id, topic.name, index, topic.topic_id))
                    for index in topic.partition_indexes
                ],
            )
            for topic in topics
        ],
    )


def _all_topics(offsets: Offsets, group_id: str) -> list[OffsetFetchRequestTopics]:
    committed = offsets.of_group(group_id)
    return [OffsetFetchRequestTopics(name=name, partition_indexes=sorted(found)) for name, found in committed.items()]


def _partition(index: int, value: OffsetCommitValue | None) -> OffsetFetchResponsePartitions:
    if value is None:
        return OffsetFetchResponsePartitions(partition_index=index, committed_offset=-1, metadata="")
    return OffsetFetchResponsePartitions(
        partition_index=index,
        committed_offset=value.offset,
        committed_leader_epoch=value.leader_epoch,
        metadata=value.metadata,
    )


# -- one group, or several


def _groups(request: OffsetFetchRequest, version: int) -> list[OffsetFetchRequestGroup]:
    """Any version as the newest ones have it."""
    if version >= _SEVERAL_VERSION:
        return request.groups
    group = OffsetFetchRequestGroup(group_id=request.group_id, topics=None)
    if request.topics is not None:
        group.topics = [
            OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes)
            for topic in request.topics
        ]
    return [group]


def _as_version(groups: list[OffsetFetchResponseGroup], version: int) -> OffsetFetchResponse:
    if version >= _SEVERAL_VERSION:
        return OffsetFetchResponse(groups=groups)
    (group,) = groups
    return OffsetFetchResponse(
        error_code=group.error_code,
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=found.partition_index,
                        committed_offset=found.committed_offset,
                        committed_leader_epoch=found.committed_leader_epoch,
                        metadata=found.metadata,
                        error_code=found.error_code,
                    )
                    for found in topic.partitions
                ],
            )
            for topic in group.topics
        ],
    )
