"""ElectLeaders (43): let the preferred replica lead, or, with an unclean election, anyone rather than nobody.

- No list of partitions means all of them; then partitions that need no election are left out of the answer.
- Version 0 knows preferred elections only.
"""

from typing import Final

from kafkish.controller.elections import Election, Wish, change, topic_rules
from kafkish.controller.errors import standard_error
from kafkish.controller.operation import ApiError, Context, Result, check_size
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.topics import NO_LEADER
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
    TopicPartitions,
)
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_topics import PartitionChangeRecord

TYPES: Final = {0: Election.PREFERRED, 1: Election.UNCLEAN}


def elect_leaders(image: MetadataImage, request: ElectLeadersRequest, context: Context) -> Result[ElectLeadersResponse]:
    """Elect the leaders that can be elected."""
    asked = every_partition(image) if request.topic_partitions is None else request.topic_partitions
    election = TYPES.get(request.election_type)
    if not asked:
        return Result([], ElectLeadersResponse())
    if election is None:
        error = ApiError(ErrorCode.INVALID_REQUEST, f"Unknown election type {request.election_type}")
        return Result([], refused(request, error))
    records: list[MetadataRecord] = []
    response = ElectLeadersResponse()
    for topic in asked:
        rows = []
        for index in topic.partitions:
            row = PartitionResult(partition_id=index, error_message=None)
            try:
                record = elect_leader(image, topic.topic, index, election, context)
                check_size(len(records) + 1)
                records.append(record)
            except ApiError as error:
                row.error_code, row.error_message = error.code, error.message
            if request.topic_partitions is not None or row.error_code != ErrorCode.ELECTION_NOT_NEEDED:
                rows.append(row)
        response.replica_election_results.append(ReplicaElectionResult(topic=topic.topic, partition_result=rows))
    return Result(records, response)


def elect_leader(
    image: MetadataImage, name: str, index: int, election: Election, context: Context
) -> PartitionChangeRecord:
    """The record of one election."""
    topic = image.topics.by_name.get(name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
    partition = topic.partitions.get(index)
    if partition is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{index}")
    preferred = election is Election.PREFERRED
    if partition.has_preferred_leader if preferred else partition.leader != NO_LEADER:
        raise standard_error(ErrorCode.ELECTION_NOT_NEEDED)
    record = change(topic.id, index, partition, Wish(election=election), topic_rules(image, context, topic))
    if record is None:
        code = ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE if preferred else ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
        raise standard_error(code)
    return record


def every_partition(image: MetadataImage) -> list[TopicPartitions]:
    """All partitions of all topics."""
    return [TopicPartitions(topic=t.name, partitions=sorted(t.partitions)) for t in image.topics.by_id.values()]


def refused(request: ElectLeadersRequest, error: ApiError) -> ElectLeadersResponse:
    """The same error for the request and for each partition in it."""
    return ElectLeadersResponse(
        error_code=error.code,
        replica_election_results=[
            ReplicaElectionResult(
                topic=topic.topic,
                partition_result=[
                    PartitionResult(partition_id=index, error_code=error.code, error_message=error.message)
                    for index in topic.partitions
                ],
            )
            for topic in request.topic_partitions or []
        ],
    )
