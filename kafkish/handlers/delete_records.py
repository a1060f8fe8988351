"""DeleteRecords (21): move the start of partitions forward.

- Offset -1 means all that a consumer could read. An offset beyond the high watermark is refused (1).
- A topic that is compacted and nothing else cannot lose records this way (44); neither can an internal one (17).
- The records are gone for readers at once; their files go with the next retention pass.
"""

from kafkish.handlers.registry import RequestContext, handles
from kafkish.metadata.topics import INTERNAL_TOPICS
from kafkish.partitions.errors import PartitionError
from kafkish.partitions.partition import Partition
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)


@handles(ApiKey.DELETE_RECORDS)
def delete_records(request: DeleteRecordsRequest, context: RequestContext) -> DeleteRecordsResponse:
    """Move each partition's start. Replicas follow with their next fetch."""
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name, partitions=[_row(topic.name, asked, context) for asked in topic.partitions]
            )
            for topic in request.topics
            if topic.partitions
        ]
    )


def _row(topic: str, asked: DeleteRecordsPartition, context: RequestContext) -> DeleteRecordsPartitionResult:
    try:
        partition = context.services.find_partition(topic, asked.partition_index)
        if topic in INTERNAL_TOPICS:
            raise PartitionError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        partition.require_leader()
        _require_deletion(partition)
        low_watermark = partition.delete_records_before(asked.offset)
    except PartitionError as error:
        return DeleteRecordsPartitionResult(
            partition_index=asked.partition_index, error_code=error.code, low_watermark=-1
        )
    return DeleteRecordsPartitionResult(partition_index=asked.partition_index, low_watermark=low_watermark)


def _require_deletion(partition: Partition) -> None:
    if partition.log.config.compact and not partition.log.config.delete:
        raise PartitionError(ErrorCode.POLICY_VIOLATION)
