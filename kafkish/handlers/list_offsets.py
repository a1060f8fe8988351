"""ListOffsets (2): offsets by timestamp, and the special ones.

    -1  the next offset: the high watermark, or the last stable offset for readers of committed records
    -2  the earliest
    -3  the record with the largest timestamp (version 7)
    -4  the earliest on this node's disk (version 8): without tiers the same as -2
    -5  the latest in another tier (version 9), -6 the earliest that will go there (version 11): there is none

- A timestamp finds the first record that is not older; none that a consumer may not read yet is found. No record: -1.
- A partition that is named twice gets error 42, a special number that is not known in this version error 35.
"""

from collections import Counter
from typing import Final

from kafkish.handlers.registry import RequestContext, handles
from kafkish.partitions.errors import PartitionError
from kafkish.partitions.partition import Partition
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

LATEST: Final = -1
EARLIEST: Final = -2
MAX_TIMESTAMP: Final = -3
EARLIEST_LOCAL: Final = -4
LATEST_TIERED: Final = -5
EARLIEST_PENDING_UPLOAD: Final = -6

_SINCE_VERSION: Final = {
    LATEST: 0,
    EARLIEST: 0,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}
_EPOCHS_VERSION: Final = 4
_DEBUGGING_CONSUMER: Final = -2
_CONSUMER: Final = -1
_READ_COMMITTED: Final = 1


@handles(ApiKey.LIST_OFFSETS)
def list_offsets(request: ListOffsetsRequest, context: RequestContext) -> ListOffsetsResponse:
    """Look each partition's offset up."""
    named = Counter((topic.name, asked.partition_index) for topic in request.topics for asked in topic.partitions)
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    _row(topic.name, asked, request, context, is_twice=named[topic.name, asked.partition_index] > 1)
                    for asked in topic.partitions
                ],
            )
            for topic in request.topics
            if topic.partitions  # Kafka answers for partitions: a topic without any has no row
        ]
    )


def _row(
    topic: str, asked: ListOffsetsPartition, request: ListOffsetsRequest, context: RequestContext, *, is_twice: bool
) -> ListOffsetsPartitionResponse:
    try:
        if is_twice:
            raise PartitionError(ErrorCode.INVALID_REQUEST)
        if asked.timestamp < 0 and context.api_version < _SINCE_VERSION.get(asked.timestamp, 2**15):
            raise PartitionError(ErrorCode.UNSUPPORTED_VERSION)
        partition = context.services.find_partition(topic, asked.partition_index)
        partition.require_leader(asked.current_leader_epoch)
        timestamp, offset, epoch = _look_up(partition, asked.timestamp, _last_readable(partition, request))
    except PartitionError as error:
        return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=error.code)
    row = ListOffsetsPartitionResponse(partition_index=asked.partition_index, timestamp=timestamp, offset=offset)
    if context.api_version >= _EPOCHS_VERSION:
        row.leader_epoch = epoch
    return row


def _last_readable(partition: Partition, request: ListOffsetsRequest) -> int:
    if request.replica_id not in (_CONSUMER, _DEBUGGING_CONSUMER):
        return partition.log.end_offset
    if request.isolation_level == _READ_COMMITTED:
        return partition.log.last_stable_offset
    return partition.log.high_watermark


def _look_up(partition: Partition, timestamp: int, last_readable_offset: int) -> tuple[int, int, int]:
    """Timestamp, offset and leader epoch; each -1 where there is none."""
    if timestamp == LATEST:
        return -1, last_readable_offset, partition.role.leader_epoch
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        start_offset = partition.log.start_offset
        epoch = partition.log.epochs.epoch_of(start_offset)
        return -1, start_offset, -1 if epoch is None else epoch
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return -1, -1, -1
    is_largest = timestamp == MAX_TIMESTAMP
    found = partition.find_largest_timestamp() if is_largest else partition.find_timestamp(timestamp)
    if found is None or found.offset >= last_readable_offset:
        return -1, -1, -1
    return found
