"""OffsetFetch (9): ask how far groups have read.

From version 10 on topics have ids and no names (KIP-848). The coordinator knows names: the handler translates, both
ways. A topic that is gone and has no id any more cannot be told in the answer to "all topics", and is left out.
"""

from dataclasses import replace

from kafkish.deferred import Deferred
from kafkish.handlers.groups import ask_coordinator, refuse_group
from kafkish.handlers.registry import RequestContext, handles
from kafkish.metadata.image import MetadataImage
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from kafkish_protocol.types import ZERO_UUID

_IDS_VERSION = 10


@handles(ApiKey.OFFSET_FETCH, refuse_group)
def offset_fetch(request: OffsetFetchRequest, context: RequestContext) -> Deferred[OffsetFetchResponse]:
    """The coordinator answers for each group."""
    if context.api_version < _IDS_VERSION:
        return ask_coordinator(request, context, OffsetFetchResponse)
    image = context.services.metadata.image
    named = replace(request, groups=[with_names(group, image) for group in request.groups])
    answer = ask_coordinator(named, context, OffsetFetchResponse)
    return answer.map(lambda response: with_ids(request, response, context.services.metadata.image))


def with_names(group: OffsetFetchRequestGroup, image: MetadataImage) -> OffsetFetchRequestGroup:
    """The same question with names; without the topics that are not known."""
    if group.topics is None:
        return group
    known = [(image.topics.by_id.get(asked.topic_id), asked) for asked in group.topics]
    return replace(group, topics=[replace(asked, name=topic.name) for topic, asked in known if topic is not None])


def with_ids(request: OffsetFetchRequest, response: OffsetFetchResponse, image: MetadataImage) -> OffsetFetchResponse:
    """The coordinator's answer with the ids of all topics, and rows for those that are not known."""
    for asked, group in zip(request.groups, response.groups, strict=True):
        if not group.error_code:
            add_ids(group, asked, image)
    return response


def add_ids(answer: OffsetFetchResponseGroup, asked: OffsetFetchRequestGroup, image: MetadataImage) -> None:
    """One group's rows."""
    for row in answer.topics:
        if row.topic_id == ZERO_UUID and (topic := image.topic(row.name)) is not None:
            row.topic_id = topic.id
    told = {row.topic_id for row in answer.topics}
    unknown = [unknown_topic(topic) for topic in asked.topics or [] if topic.topic_id not in told]
    answer.topics = [row for row in answer.topics if row.topic_id != ZERO_UUID] + unknown


def unknown_topic(asked: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
    """The row of a topic that does not exist."""
    partitions = [
        OffsetFetchResponsePartitions(
            partition_index=index, committed_offset=-1, metadata="", error_code=ErrorCode.UNKNOWN_TOPIC_ID
        )
        for index in asked.partition_indexes
    ]
    return OffsetFetchResponseTopics(topic_id=asked.topic_id, partitions=partitions)
