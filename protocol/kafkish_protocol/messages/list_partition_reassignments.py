"""ListPartitionReassignments (46): the moves under way."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int16, Int32, String


class ListPartitionReassignmentsTopics(Struct):
    name: str = field(String, "0+", entity="topicName")
    partition_indexes: list[int] = field(Array(Int32), "0+")


class ListPartitionReassignmentsRequest(
    Request, api_key=46, versions="0", flexible="0+", listeners="broker controller"
):
    timeout_ms: int = field(Int32, "0+", default=60_000)
    topics: list[ListPartitionReassignmentsTopics] | None = field(
        Array(ListPartitionReassignmentsTopics), "0+", nullable="0+", default=None
    )


class OngoingPartitionReassignment(Struct):
    partition_index: int = field(Int32, "0+")
    replicas: list[int] = field(Array(Int32), "0+", entity="brokerId")
    adding_replicas: list[int] = field(Array(Int32), "0+", entity="brokerId")
    removing_replicas: list[int] = field(Array(Int32), "0+", entity="brokerId")


class OngoingTopicReassignment(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[OngoingPartitionReassignment] = field(Array(OngoingPartitionReassignment), "0+")


class ListPartitionReassignmentsResponse(Response, api_key=46, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")
    topics: list[OngoingTopicReassignment] = field(Array(OngoingTopicReassignment), "0+")
