"""OffsetCommit (8): store how far a group has read.

- Offsets of partitions that do not exist are not stored; the others are.
- From version 10 on topics have ids and no names (KIP-848). The coordinator gets both.
"""

from collections.abc import Iterable
from dataclasses import replace

from kafkish.deferred import Deferred
from kafkish.handlers.groups import ask_coordinator, refuse_group
from kafkish.handlers.registry import RequestContext, handles
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.topics import Topic
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

_IDS_VERSION = 10


@handles(ApiKey.OFFSET_COMMIT, refuse_group)
def offset_commit(
    request: OffsetCommitRequest, context: RequestContext
) -> OffsetCommitResponse | Deferred[OffsetCommitResponse]:
    """Have what can be committed committed."""
    by_id = context.api_version >= _IDS_VERSION
    known, unknown = split(request.topics, context.services.metadata.image, by_id=by_id)
    if not known:
        return OffsetCommitResponse(topics=unknown)
    answer = ask_coordinator(replace(request, topics=known), context, OffsetCommitResponse)
    return answer.map(lambda response: joined(response, unknown)) if unknown else answer


def split(
    topics: Iterable[OffsetCommitRequestTopic], image: MetadataImage, *, by_id: bool
) -> tuple[list[OffsetCommitRequestTopic], list[OffsetCommitResponseTopic]]:
    """What the coordinator may store, with names and ids; and the rows of what does not exist."""
    known, unknown = [], []
    for asked in topics:
        topic = image.topics.by_id.get(asked.topic_id) if by_id else image.topic(asked.name)
        indexes = topic.partitions if topic is not None else {}
        missing = [partition for partition in asked.partitions if partition.partition_index not in indexes]
        if missing or topic is None:
            unknown.append(missing_topic(asked, topic, missing, by_id=by_id))
        if topic is not None and len(missing) < len(asked.partitions):
            partitions = [partition for partition in asked.partitions if partition.partition_index in indexes]
            known.append(OffsetCommitRequestTopic(name=topic.name, topic_id=topic.id, partitions=partitions))
    return known, unknown


def missing_topic(
    asked: OffsetCommitRequestTopic,
    topic: Topic | None,
    missing: Iterable[OffsetCommitRequestPartition],
    *,
    by_id: bool,
) -> OffsetCommitResponseTopic:
    """The row of a topic, or of partitions of it, that do not exist."""
    error = ErrorCode.UNKNOWN_TOPIC_ID if by_id and topic is None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return OffsetCommitResponseTopic(
        name=asked.name if topic is None else topic.name,
        topic_id=asked.topic_id if topic is None else topic.id,
        partitions=[
            OffsetCommitResponsePartition(partition_index=partition.partition_index, error_code=error)
            for partition in missing
        ],
    )


def joined(response: OffsetCommitResponse, unknown: list[OffsetCommitResponseTopic]) -> OffsetCommitResponse:
    """The coordinator's rows and ours; one for each topic, since clients read no more than one."""
    rows = {topic.name: topic for topic in response.topics}
    for topic in unknown:
        if topic.name and topic.name in rows:
            rows[topic.name].partitions += topic.partitions
        else:
            response.topics.append(topic)
    return response
