"""DescribeProducers (61): the producers that a partition remembers, with their open transactions (KIP-664)."""

from kafkish.config.topic_names import why_invalid
from kafkish.controller.errors import MESSAGES
from kafkish.handlers.registry import RequestContext, handles
from kafkish.partitions.errors import PartitionError
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicRequest,
    TopicResponse,
)


@handles(ApiKey.DESCRIBE_PRODUCERS)
def describe_producers(request: DescribeProducersRequest, context: RequestContext) -> DescribeProducersResponse:
    """Answer for each partition."""
    return DescribeProducersResponse(topics=[describe_topic(topic, context) for topic in request.topics])


def describe_topic(topic: TopicRequest, context: RequestContext) -> TopicResponse:
    """One topic's partitions, or its error on each of them."""
    try:
        check_topic(topic.name, context)
    except PartitionError as error:
        partitions = [refused(index, error) for index in topic.partition_indexes]
    else:
        partitions = [describe_partition(topic.name, index, context) for index in topic.partition_indexes]
    return TopicResponse(name=topic.name, partitions=partitions)


def check_topic(name: str, context: RequestContext) -> None:
    """Refuse a topic that cannot be, or is not."""
    if (reason := why_invalid(name)) is not None:
        raise PartitionError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")
    if context.services.metadata.image.topic(name) is None:
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        raise PartitionError(unknown, MESSAGES[unknown])


def describe_partition(topic: str, index: int, context: RequestContext) -> PartitionResponse:
    """The producers of a partition that this broker leads."""
    try:
        partition = context.services.find_partition(topic, index)
        partition.require_leader()
    except PartitionError as error:
        return refused(index, error)
    producers = [
        ProducerState(
            producer_id=entry.producer_id,
            producer_epoch=entry.epoch,
            last_sequence=entry.last_sequence,
            last_timestamp=entry.last_timestamp,
            coordinator_epoch=entry.coordinator_epoch,
            current_txn_start_offset=entry.transaction_first_offset,
        )
        for entry in partition.log.producers.producers.values()
    ]
    return PartitionResponse(partition_index=index, active_producers=producers)


def refused(index: int, error: PartitionError) -> PartitionResponse:
    """The row of a partition that cannot be described."""
    return PartitionResponse(partition_index=index, error_code=error.code, error_message=error.message)
