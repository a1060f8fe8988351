"""AlterPartitionReassignments (45): move replicas to other brokers (KIP-455).

A reassignment begins with all replicas, old and new; `adding` and `removing` say which. It ends when the new ones are
in sync: then the old ones go (`elections`). Null replicas cancel one that is under way, and the new ones go.
"""

from collections.abc import Sequence

from kafkish.controller.assignment import check_replicas
from kafkish.controller.elections import Rules, Wish, change, topic_rules
from kafkish.controller.operation import ApiError, Context, Result, check_size
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.topics import Partition, Topic
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_topics import PartitionChangeRecord


def alter_partition_reassignments(
    image: MetadataImage, request: AlterPartitionReassignmentsRequest, context: Context
) -> Result[AlterPartitionReassignmentsResponse]:
    """Begin, change or cancel reassignments."""
    factor_may_change = request.allow_replication_factor_change
    if not request.topics:  # Kafka looks no further
        return Result([], AlterPartitionReassignmentsResponse())
    response = AlterPartitionReassignmentsResponse(
        error_message=None, allow_replication_factor_change=factor_may_change
    )
    records: list[MetadataRecord] = []
    for topic in request.topics:
        rows = []
        for asked in topic.partitions:
            row = ReassignablePartitionResponse(partition_index=asked.partition_index, error_message=None)
            try:
                record = reassign(image, topic.name, asked, factor_may_change, context)
                check_size(len(records) + 1)
                records += [record] if record is not None else []
            except ApiError as error:
                row.error_code, row.error_message = error.code, error.message
            rows.append(row)
        response.responses.append(ReassignableTopicResponse(name=topic.name, partitions=rows))
    return Result(records, response)


def reassign(
    image: MetadataImage, name: str, asked: ReassignablePartition, factor_may_change: bool, context: Context
) -> PartitionChangeRecord | None:
    """The record for one partition; None if it is as asked already."""
    topic = image.topics.by_name.get(name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {name}.")
    index = asked.partition_index
    partition = topic.partitions.get(index)
    if partition is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {name}:{index}.")
    rules = topic_rules(image, context, topic)
    if asked.replicas is None:
        wish = cancelled(topic, index, partition, rules)
    else:
        check_replicas(image, asked.replicas, None)
        if not factor_may_change:
            check_factor(partition, asked.replicas)
        wish = begun(partition, asked.replicas)
    return change(topic.id, index, partition, wish, rules)


def begun(partition: Partition, target: Sequence[int]) -> Wish:
    """All replicas that are and that shall be, those that go last."""
    removing = sorted(set(partition.replicas) - set(target))
    adding = sorted(set(target) - set(partition.replicas))
    return Wish(replicas=[*target, *removing], removing=removing or None, adding=adding or None)


def cancelled(topic: Topic, index: int, partition: Partition, rules: Rules) -> Wish:
    """The replicas from before. Where only new ones are in sync, that takes an unclean election."""
    if not partition.reassigning:
        raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    replicas = [replica for replica in partition.replicas if replica not in partition.adding_replicas]
    isr = [replica for replica in partition.isr if replica not in partition.adding_replicas]
    if not replicas:
        message = "Invalid replica assignment: addingReplicas contains all replicas."
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
    if not isr and not rules.unclean_election:
        message = (
            f"Unable to revert partition assignment for {topic.name}:{index} because it would require an unclean "
            "leader election."
        )
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
    return Wish(isr=isr or replicas[:1], replicas=replicas, removing=[], adding=[], election=rules.election)


def check_factor(partition: Partition, target: Sequence[int]) -> None:
    """Refuse another number of replicas than there will be when what is under way has ended (KIP-860)."""
    present = {*partition.replicas, *partition.adding_replicas} - set(partition.removing_replicas)
    if len(present) != len(target):
        message = f"The replication factor is changed from {len(present)} to {len(target)}"
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
