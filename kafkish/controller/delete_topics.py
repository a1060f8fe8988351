"""DeleteTopics (20).

- Up to version 5 topics are named; from version 6 on each is named or has its id, not both (KIP-516).
- What is there twice is not deleted, be it by name, by id, or once by each.
- Whoever may not even see a topic is told the same whether it exists or not.
"""

from collections import Counter

from kafkish.controller.errors import standard_error
from kafkish.controller.operation import ApiError, Context, Result, check_size
from kafkish.controller.ports import CLUSTER_NAME, AclOperation, AclResource
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.topics import Topic
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_topics import RemoveTopicRecord
from kafkish_protocol.types import ZERO_UUID, Uuid


def delete_topics(image: MetadataImage, request: DeleteTopicsRequest, context: Context) -> Result[DeleteTopicsResponse]:
    """Delete the topics that can be deleted."""
    asked = [*request.topics, *(DeleteTopicState(name=name) for name in request.topic_names)]
    if not context.settings.delete_topics:
        code = ErrorCode.INVALID_REQUEST if context.api_version < 3 else ErrorCode.TOPIC_DELETION_DISABLED
        rows = [DeletableTopicResult(name=topic.name, topic_id=topic.topic_id, error_code=code) for topic in asked]
        return Result([], DeleteTopicsResponse(responses=rows))
    names = Counter(topic.name for topic in asked if topic.name is not None and topic.topic_id == ZERO_UUID)
    ids = Counter(topic.topic_id for topic in asked if topic.name is None)
    records: list[MetadataRecord] = []
    rows = []
    for name, topic_id in dict.fromkeys((topic.name, topic.topic_id) for topic in asked):
        row = DeletableTopicResult(name=name, topic_id=topic_id)
        try:
            topic = find_topic(image, row, names, ids, context)
            if name is None and names[topic.name] == 1:
                continue  # the row of the name says that the topic is there twice
            check_size(len(records) + 1)
            context.charge_partitions(len(topic.partitions))
            records.append(RemoveTopicRecord(topic_id=topic.id))
            row.name, row.topic_id = topic.name, topic.id
        except ApiError as error:
            row.error_code, row.error_message = error.code, error.message
        rows.append(row)
    return Result(records, DeleteTopicsResponse(responses=rows))


def find_topic(
    image: MetadataImage, row: DeletableTopicResult, names: Counter[str], ids: Counter[Uuid], context: Context
) -> Topic:
    """The topic to delete. The row may learn the name or id that the client may see."""
    if row.name is None:
        return find_by_id(image, row, ids, context)
    if row.topic_id != ZERO_UUID:
        raise ApiError(ErrorCode.INVALID_REQUEST, "You may not specify both topic name and topic id.")
    if names[row.name] > 1:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
    if not may(context, AclOperation.DESCRIBE, row.name):
        raise standard_error(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    topic = image.topics.by_name.get(row.name)
    if topic is None:
        raise standard_error(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if not may(context, AclOperation.DELETE, row.name):
        raise standard_error(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    if ids[topic.id]:
        row.topic_id = topic.id
        message = "The provided topic name maps to an ID that was already supplied."
        raise ApiError(ErrorCode.INVALID_REQUEST, message)
    return topic


def find_by_id(image: MetadataImage, row: DeletableTopicResult, ids: Counter[Uuid], context: Context) -> Topic:
    """The topic of an id."""
    if row.topic_id == ZERO_UUID:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Neither topic name nor id were specified.")
    if ids[row.topic_id] > 1:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic id.")
    topic = image.topics.by_id.get(row.topic_id)
    if topic is None:
        raise standard_error(ErrorCode.UNKNOWN_TOPIC_ID)
    if not may(context, AclOperation.DELETE, topic.name):
        row.name = topic.name if may(context, AclOperation.DESCRIBE, topic.name) else None
        raise standard_error(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return topic


def may(context: Context, operation: AclOperation, topic: str) -> bool:
    """Whoever may delete anything in the cluster may also see it."""
    return context.authorize(AclOperation.DELETE, AclResource.CLUSTER, CLUSTER_NAME) or context.authorize(
        operation, AclResource.TOPIC, topic
    )
