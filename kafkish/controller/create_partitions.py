"""CreatePartitions (37): a topic gets more partitions. It never gets fewer.

- `count` is the number of partitions afterwards.
- New partitions have as many replicas as the first one, placed by the controller or named by the client.
"""

from collections import Counter

from kafkish.controller import assignment
from kafkish.controller.operation import ApiError, Context, Result, check_size
from kafkish.controller.placement import place, usable_brokers
from kafkish.controller.ports import AclOperation, AclResource
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.topics import Partition, Topic
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from kafkish_protocol.schema import MetadataRecord


def create_partitions(
    image: MetadataImage, request: CreatePartitionsRequest, context: Context
) -> Result[CreatePartitionsResponse]:
    """Add partitions to the topics that can have more."""
    counts = Counter(topic.name for topic in request.topics)
    records: list[MetadataRecord] = []
    results = []
    for topic in {topic.name: topic for topic in request.topics}.values():
        result = CreatePartitionsTopicResult(name=topic.name)
        try:
            if counts[topic.name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            records += new_partitions(image, topic, len(records), context)
        except ApiError as error:
            result.error_code, result.error_message = error.code, error.message
        results.append(result)
    return Result([] if request.validate_only else records, CreatePartitionsResponse(results=results))


def new_partitions(
    image: MetadataImage, wanted: CreatePartitionsTopic, records_before: int, context: Context
) -> list[MetadataRecord]:
    """The records of one topic's new partitions."""
    if not context.authorize(AclOperation.ALTER, AclResource.TOPIC, wanted.name):
        raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    topic = image.topics.by_name.get(wanted.name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    additional = count_additional(topic, wanted)
    check_size(records_before + additional)
    context.charge_partitions(additional)
    if wanted.assignments is None:
        partitions = placed_partitions(image, topic, additional, context)
    else:
        partitions = named_partitions(image, topic, wanted.assignments)
    return assignment.partition_records(image, topic.id, partitions, first=len(topic.partitions))


def count_additional(topic: Topic, wanted: CreatePartitionsTopic) -> int:
    """How many partitions come."""
    present = len(topic.partitions)
    if wanted.count == present:
        raise ApiError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {present} partition(s).")
    if wanted.count < present:
        message = (
            f"The topic {topic.name} currently has {present} partition(s); {wanted.count} would not be an increase."
        )
        raise ApiError(ErrorCode.INVALID_PARTITIONS, message)
    additional = wanted.count - present
    if wanted.assignments is not None and len(wanted.assignments) != additional:
        message = (
            f"Attempted to add {additional} additional partition(s), but only {len(wanted.assignments)} "
            "assignment(s) were specified."
        )
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
    return additional


def placed_partitions(image: MetadataImage, topic: Topic, additional: int, context: Context) -> list[Partition]:
    """Partitions wherever they fit."""
    factor = len(topic.partitions[0].replicas)
    nobody = assignment.placed_but_inactive(factor)
    placed = place(usable_brokers(image), additional, factor, context.dice)
    return assignment.new_partitions(image, placed, nobody)


def named_partitions(
    image: MetadataImage, topic: Topic, assignments: list[CreatePartitionsAssignment]
) -> list[Partition]:
    """Partitions whose replicas the client named."""
    factor = len(topic.partitions[0].replicas)
    made = []
    for index, named in enumerate(assignments, len(topic.partitions)):
        assignment.check_replicas(image, named.broker_ids, factor)
        made.append(assignment.new_partition(image, named.broker_ids, assignment.named_but_inactive(index)))
    return made
