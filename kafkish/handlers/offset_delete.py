"""OffsetDelete (47): forget a group's offsets of some partitions. Those that do not exist have their own error."""

from collections.abc import Iterable
from dataclasses import replace

from kafkish.deferred import Deferred
from kafkish.handlers.groups import ask_coordinator, refuse_group
from kafkish.handlers.registry import RequestContext, handles
from kafkish.metadata.image import MetadataImage
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


@handles(ApiKey.OFFSET_DELETE, refuse_group)
def offset_delete(request: OffsetDeleteRequest, context: RequestContext) -> Deferred[OffsetDeleteResponse]:
    """The coordinator deletes, and answers first of all for the group: also if no partition is left to delete."""
    known, unknown = split(request.topics, context.services.metadata.image)
    answer = ask_coordinator(replace(request, topics=known), context, OffsetDeleteResponse)
    return answer.map(lambda response: joined(response, unknown)) if unknown else answer


def split(
    topics: Iterable[OffsetDeleteRequestTopic], image: MetadataImage
) -> tuple[list[OffsetDeleteRequestTopic], list[OffsetDeleteResponseTopic]]:
    """What exists, and the rows of what does not."""
    known, unknown = [], []
    for asked in topics:
        topic = image.topic(asked.name)
        indexes = {} if topic is None else topic.partitions
        present = [partition for partition in asked.partitions if partition.partition_index in indexes]
        missing = [partition for partition in asked.partitions if partition.partition_index not in indexes]
        if present:
            known.append(replace(asked, partitions=present))
        if missing or topic is None:
            unknown.append(missing_topic(asked.name, missing))
    return known, unknown


def missing_topic(name: str, missing: Iterable[OffsetDeleteRequestPartition]) -> OffsetDeleteResponseTopic:
    """The row of partitions that do not exist."""
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return OffsetDeleteResponseTopic(
        name=name,
        partitions=[
            OffsetDeleteResponsePartition(partition_index=partition.partition_index, error_code=error)
            for partition in missing
        ],
    )


def joined(response: OffsetDeleteResponse, unknown: list[OffsetDeleteResponseTopic]) -> OffsetDeleteResponse:
    """The coordinator's rows and ours, unless it refuses the group."""
    if response.error_code:
        return response
    rows = {topic.name: topic for topic in response.topics}
    for topic in unknown:
        if topic.name in rows:
            rows[topic.name].partitions += topic.partitions
        else:
            response.topics.append(topic)
    return response
