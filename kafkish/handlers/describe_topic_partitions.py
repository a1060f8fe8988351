"""DescribeTopicPartitions (75): topics and partitions in the order of their names, a page at a time (KIP-966).

A page has no more partitions than the client or this broker's `max.request.partition.size.limit` allows, and at least
one. Where it ends before the last, its cursor says where the next one starts. No list of topics means all of them.
"""

from collections.abc import Iterable

from kafkish.handlers.endpoints import NO_NODE, View
from kafkish.handlers.metadata import why_missing
from kafkish.handlers.permissions import TOPIC_OPERATIONS
from kafkish.handlers.registry import RequestContext, RequestError, handles
from kafkish.handlers.topic_creation import INTERNAL_TOPICS
from kafkish.metadata.topics import Partition, Topic
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)


@handles(ApiKey.DESCRIBE_TOPIC_PARTITIONS)
def describe_topic_partitions(
    request: DescribeTopicPartitionsRequest, context: RequestContext
) -> DescribeTopicPartitionsResponse:
    """Answer with one page."""
    topics = context.services.metadata.image.topics.by_name
    cursor = request.cursor or Cursor()
    names = names_from(cursor, {asked.name for asked in request.topics} or topics)
    check_cursor(request, names)
    limit = context.services.metadata.settings.topics.max_partitions_per_request
    left = max(min(limit, request.response_partition_limit), 1)
    page, view = DescribeTopicPartitionsResponse(), View(context)
    for name in names:
        if left == 0:
            page.next_cursor = Cursor(topic_name=name)
            break
        if name not in topics:
            page.topics.append(missing_topic(name))
            continue
        start = cursor.partition_index if name == cursor.topic_name else 0
        row = shown_topic(topics[name], start, left, view)
        page.topics.append(row)
        if start + left < len(topics[name].partitions):
            page.next_cursor = Cursor(topic_name=name, partition_index=start + left)
            break
        left -= len(row.partitions)
    return page


def names_from(cursor: Cursor, names: Iterable[str]) -> list[str]:
    """In order, without those of earlier pages."""
    return sorted(name for name in names if name >= cursor.topic_name)


def check_cursor(request: DescribeTopicPartitionsRequest, names: list[str]) -> None:
    """Refuse a cursor that no page can have had."""
    cursor = request.cursor
    if cursor is None:
        return
    if request.topics and cursor.topic_name not in names:
        message = f"DescribeTopicPartitionsRequest topic list should contain the cursor topic: {cursor.topic_name}"
        raise RequestError(ErrorCode.INVALID_REQUEST, message)
    if cursor.partition_index < 0:
        message = f"DescribeTopicPartitionsRequest cursor partition must be valid: {cursor.partition_index}"
        raise RequestError(ErrorCode.INVALID_REQUEST, message)


def missing_topic(name: str) -> DescribeTopicPartitionsResponseTopic:
    """The row of a topic that does not exist."""
    return DescribeTopicPartitionsResponseTopic(
        error_code=why_missing(name),
        name=name,
        is_internal=name in INTERNAL_TOPICS,
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def shown_topic(topic: Topic, start: int, count: int, view: View) -> DescribeTopicPartitionsResponseTopic:
    """The row of a topic, with so many of its partitions."""
    indexes = range(start, min(start + count, len(topic.partitions)))
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=[shown_partition(index, topic.partitions[index], view) for index in indexes],
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def shown_partition(index: int, partition: Partition, view: View) -> DescribeTopicPartitionsResponsePartition:
    """A partition's row. It has no error, even without a leader."""
    leader = view.endpoints.get(partition.leader)
    return DescribeTopicPartitionsResponsePartition(
        partition_index=index,
        leader_id=NO_NODE if leader is None else leader.node_id,
        leader_epoch=partition.leader_epoch,
        replica_nodes=list(partition.replicas),
        isr_nodes=list(partition.isr),
        eligible_leader_replicas=list(partition.elr),
        last_known_elr=list(partition.last_known_elr),
        offline_replicas=view.offline_replicas(partition),
    )
