"""CreateTopics (19).

- Each topic succeeds or fails by itself; of a name that is there twice, none is created.
- Partitions and replicas are either counted (-1 is the default, KIP-464) or named one by one, never both.
- The answer has the topic's configs where the client may see them (version 5, KIP-525) and its id (version 7).
- `validate_only` gives the same answer and writes nothing.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, TypeAlias

from kafkish.config.topic_names import METADATA_TOPIC, Collisions, why_invalid
from kafkish.controller import assignment
from kafkish.controller.alter_configs import new_topic_configs
from kafkish.controller.operation import ApiError, Context, Result, check_size
from kafkish.controller.placement import place, usable_brokers
from kafkish.controller.ports import CLUSTER_NAME, AclOperation, AclResource
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.topics import Partition
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_topics import TopicRecord

MAX_PARTITIONS: Final = 10_000
"""Of one request: more would take the controller's memory before anyone could refuse them."""

Describe: TypeAlias = Callable[[frozenset[tuple[str, str]]], list[CreatableTopicConfigs]]


def create_topics(image: MetadataImage, request: CreateTopicsRequest, context: Context) -> Result[CreateTopicsResponse]:
    """Create the topics that can be created."""
    try:
        records, results = create_each(image, request, context)
    except ApiError as error:  # all of them together are too much
        records, results = [], [failed(topic.name, error) for topic in request.topics]
    return Result([] if request.validate_only else records, CreateTopicsResponse(topics=results))


def create_each(
    image: MetadataImage, request: CreateTopicsRequest, context: Context
) -> tuple[list[MetadataRecord], list[CreatableTopicResult]]:
    """Records of all topics that can be created, and a row for every name."""
    counts = Counter(topic.name for topic in request.topics)
    check_total([topic for topic in request.topics if counts[topic.name] == 1], context)
    collisions = Collisions(image.topics.by_name)
    describe = cache(lambda own: config_rows(image, dict(own), context))
    records: list[MetadataRecord] = []
    results = []
    for topic in {topic.name: topic for topic in request.topics}.values():
        try:
            if counts[topic.name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            check_name(image, topic.name, collisions, context)
            made, result = create_topic(image, topic, context, describe)
        except ApiError as error:
            made, result = [], failed(topic.name, error)
        check_size(len(records) + len(made))
        records += made
        results.append(result)
    return records, results


def create_topic(
    image: MetadataImage, topic: CreatableTopic, context: Context, describe: Describe
) -> tuple[list[MetadataRecord], CreatableTopicResult]:
    """One topic: its record, then its configs, then its partitions. `describe` knows what topics alike are told."""
    own_configs = given_configs(topic)
    configs = new_topic_configs(image, topic.name, own_configs, context)
    partitions = named_partitions(image, topic) if topic.assignments else placed_partitions(image, topic, context)
    context.charge_partitions(len(partitions))
    topic_id = context.new_uuid()
    result = CreatableTopicResult(name=topic.name, topic_id=topic_id, error_message=None)
    if context.authorize(AclOperation.DESCRIBE_CONFIGS, AclResource.TOPIC, topic.name):
        result.num_partitions = len(partitions)
        result.replication_factor = len(partitions[0].replicas)
        result.configs = describe(frozenset(own_configs.items()))
    else:
        result.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    new_topic = TopicRecord(name=topic.name, topic_id=topic_id)
    return [new_topic, *configs, *assignment.partition_records(image, topic_id, partitions)], result


def failed(name: str, error: ApiError) -> CreatableTopicResult:
    """The row of a topic that is not created."""
    return CreatableTopicResult(name=name, error_code=error.code, error_message=error.message)


# -- checks


def check_total(topics: list[CreatableTopic], context: Context) -> None:
    """Refuse a request for too many partitions before any is made."""
    default = context.settings.default_partitions
    counts = [len(t.assignments) or (default if t.num_partitions == -1 else max(t.num_partitions, 0)) for t in topics]
    if sum(counts) > MAX_PARTITIONS:
        raise ApiError(ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request.")


def check_name(image: MetadataImage, name: str, collisions: Collisions, context: Context) -> None:
    """Refuse a name that is taken, cannot be, or is not the client's to give."""
    if name == METADATA_TOPIC:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Creation of internal topic {METADATA_TOPIC} is prohibited.")
    may_create = context.authorize(AclOperation.CREATE, AclResource.CLUSTER, CLUSTER_NAME) or context.authorize(
        AclOperation.CREATE, AclResource.TOPIC, name
    )
    if not may_create:
        raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Authorization failed.")
    if name in image.topics.by_name:
        raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    if (other := collisions.find(name)) is not None:
        message = f"Topic '{name}' collides with existing topic: {other}"
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
    if (reason := why_invalid(name)) is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")


# -- configs


def given_configs(topic: CreatableTopic) -> dict[str, str]:
    """The topic's own configs; null is no value here."""
    nulls = [config.name for config in topic.configs if config.value is None]
    if nulls:
        message = "Null value not supported for topic configs: " + ",".join(nulls)
        raise ApiError(ErrorCode.INVALID_CONFIG, message)
    return {config.name: config.value for config in topic.configs if config.value is not None}


def config_rows(image: MetadataImage, own: Mapping[str, str], context: Context) -> list[CreatableTopicConfigs]:
    """All configs of the new topic, by name; a secret's value is not told."""
    return [
        CreatableTopicConfigs(
            name=row.name,
            value=None if row.sensitive else own.get(row.name, row.value),  # as it was written
            read_only=row.read_only,
            config_source=row.source,
            is_sensitive=row.sensitive,
        )
        for row in sorted(context.configs.describe_topic(image.configs, own), key=lambda row: row.name)
    ]


# -- partitions


def placed_partitions(image: MetadataImage, topic: CreatableTopic, context: Context) -> list[Partition]:
    """As many partitions and replicas as the client counted, wherever they fit."""
    if topic.replication_factor == 0 or topic.replication_factor < -1:
        message = "Replication factor must be larger than 0, or -1 to use the default value."
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
    if topic.num_partitions == 0 or topic.num_partitions < -1:
        message = "Number of partitions was set to an invalid non-positive value."
        raise ApiError(ErrorCode.INVALID_PARTITIONS, message)
    settings = context.settings
    count = settings.default_partitions if topic.num_partitions == -1 else topic.num_partitions
    factor = settings.default_replication_factor if topic.replication_factor == -1 else topic.replication_factor
    try:
        placed = place(usable_brokers(image), count, factor, context.dice)
    except ApiError as error:
        raise ApiError(error.code, f"Unable to replicate the partition {factor} time(s): {error.message}") from None
    nobody = assignment.placed_but_inactive(factor)
    return assignment.new_partitions(image, placed, nobody)


def named_partitions(image: MetadataImage, topic: CreatableTopic) -> list[Partition]:
    """The partitions and replicas that the client named, one by one."""
    for what, count in (("replication factor", topic.replication_factor), ("numPartitions", topic.num_partitions)):
        if count != -1:
            message = f"A manual partition assignment was specified, but {what} was not set to -1."
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
    made: dict[int, Partition] = {}
    factor = None
    for named in topic.assignments:
        index = named.partition_index
        if index in made:
            message = f"Found multiple manual partition assignments for partition {index}"
            raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
        assignment.check_replicas(image, named.broker_ids, factor)
        factor = len(named.broker_ids)
        made[index] = assignment.new_partition(image, named.broker_ids, assignment.named_but_inactive(index))
    if sorted(made) != list(range(len(made))):
        message = "partitions should be a consecutive 0-based integer sequence"
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
    return [made[index] for index in sorted(made)]
