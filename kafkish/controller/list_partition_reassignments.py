"""ListPartitionReassignments (46): which replicas are on the move. No list of topics means all of them. Reads only."""

from collections.abc import Iterable

from kafkish.metadata.image import MetadataImage
from kafkish.metadata.topics import Topic
from kafkish_protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def list_partition_reassignments(
    image: MetadataImage, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """Partitions with replicas that come or go, of the topics that exist."""
    if request.topics is None:
        found = [ongoing(topic, sorted(topic.partitions)) for topic in image.topics.by_id.values()]
    else:
        known = [(image.topics.by_name.get(asked.name), asked.partition_indexes) for asked in request.topics]
        found = [ongoing(topic, indexes) for topic, indexes in known if topic is not None]
    topics = [topic for topic in found if topic.partitions]
    return ListPartitionReassignmentsResponse(error_message=None, topics=topics)


def ongoing(topic: Topic, indexes: Iterable[int]) -> OngoingTopicReassignment:
    """One topic's partitions that are being reassigned, of those asked for."""
    known = [(index, topic.partitions[index]) for index in indexes if index in topic.partitions]
    return OngoingTopicReassignment(
        name=topic.name,
        partitions=[
            OngoingPartitionReassignment(
                partition_index=index,
                replicas=list(partition.replicas),
                adding_replicas=list(partition.adding_replicas),
                removing_replicas=list(partition.removing_replicas),
            )
            for index, partition in known
            if partition.reassigning
        ],
    )
