"""AssignReplicasToDirs (73): a broker says in which of its directories replicas are (KIP-858).

A replica in a directory that has gone offline in the meantime cannot be served: the broker leaves that ISR.
"""

from kafkish.controller.elections import Wish, change, topic_rules
from kafkish.controller.operation import ApiError, Context, Result, check_broker_epoch
from kafkish.controller.partition_changes import broker_leaves
from kafkish.metadata.changes import PartitionId
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.versions import DIRECTORIES
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    AssignReplicasToDirsResponseDirectoryData,
    AssignReplicasToDirsResponsePartitionData,
    AssignReplicasToDirsResponseTopicData,
)
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_topics import PartitionChangeRecord
from kafkish_protocol.types import Uuid


def assign_replicas_to_dirs(
    image: MetadataImage, request: AssignReplicasToDirsRequest, context: Context
) -> Result[AssignReplicasToDirsResponse]:
    """Note the directory of each replica."""
    try:
        if image.metadata_version < DIRECTORIES:
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION, "Directory assignment is not supported yet.")
        check_broker_epoch(image, request.broker_id, request.broker_epoch)
    except ApiError as error:
        return Result([], AssignReplicasToDirsResponse(error_code=error.code))
    broker = image.brokers[request.broker_id]
    records: list[MetadataRecord] = []
    offline: dict[PartitionId, None] = {}
    response = AssignReplicasToDirsResponse()
    for directory in request.directories:
        told = AssignReplicasToDirsResponseDirectoryData(id=directory.id)
        for topic in directory.topics:
            rows = []
            for index in (asked.partition_index for asked in topic.partitions):
                row = AssignReplicasToDirsResponsePartitionData(partition_index=index)
                try:
                    record = assign(image, (topic.topic_id, index), broker.id, directory.id, context)
                    records += [record] if record is not None else []
                    offline |= {} if broker.has_online(directory.id) else {(topic.topic_id, index): None}
                except ApiError as error:
                    row.error_code = error.code
                rows.append(row)
            told.topics.append(AssignReplicasToDirsResponseTopicData(topic_id=topic.topic_id, partitions=rows))
        response.directories.append(told)
    records += broker_leaves(image, context, broker.id, offline)
    return Result(records, response, atomic=False)


def assign(
    image: MetadataImage, key: PartitionId, broker_id: int, directory: Uuid, context: Context
) -> PartitionChangeRecord | None:
    """The record for one replica; None if its directory is known."""
    topic = image.topics.by_id.get(key[0])
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
    partition = topic.partitions.get(key[1])
    if partition is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if broker_id not in partition.replicas:
        raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    wish = Wish(directories={broker_id: directory})
    return change(topic.id, key[1], partition, wish, topic_rules(image, context, topic))
