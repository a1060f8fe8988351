"""OffsetForLeaderEpoch (23): where an epoch ended, for a client that wants to know whether its records are still there.

An epoch that this log does not know, because it is newer than all or the log has nothing, is answered with -1 and -1.
"""

from kafkish.handlers.registry import RequestContext, handles
from kafkish.partitions.errors import PartitionError
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)


@handles(ApiKey.OFFSET_FOR_LEADER_EPOCH)
def offset_for_leader_epoch(
    request: OffsetForLeaderEpochRequest, context: RequestContext
) -> OffsetForLeaderEpochResponse:
    """Look each partition's epoch up."""
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic, partitions=[_row(topic.topic, asked, context) for asked in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def _row(topic: str, asked: OffsetForLeaderPartition, context: RequestContext) -> EpochEndOffset:
    try:
        partition = context.services.find_partition(topic, asked.partition)
        partition.require_leader(asked.current_leader_epoch)
    except PartitionError as error:
        return EpochEndOffset(partition=asked.partition, error_code=error.code)
    end = partition.log.end_of_epoch(asked.leader_epoch)
    if end is None:
        return EpochEndOffset(partition=asked.partition)
    return EpochEndOffset(partition=asked.partition, leader_epoch=end.epoch, end_offset=end.end_offset)
