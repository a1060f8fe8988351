"""AlterPartitionReassignments (45): start or cancel moving partitions to other brokers."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bool, Int16, Int32, String


class ReassignablePartition(Struct):
    partition_index: int = field(Int32, "0+")
    replicas: list[int] | None = field(Array(Int32), "0+", nullable="0+", default=None, entity="brokerId")


class ReassignableTopic(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[ReassignablePartition] = field(Array(ReassignablePartition), "0+")


class AlterPartitionReassignmentsRequest(
    Request, api_key=45, versions="0-1", flexible="0+", listeners="broker controller"
):
    timeout_ms: int = field(Int32, "0+", default=60_000)
    allow_replication_factor_change: bool = field(Bool, "1+", default=True)
    topics: list[ReassignableTopic] = field(Array(ReassignableTopic), "0+")


class ReassignablePartitionResponse(Struct):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")


class ReassignableTopicResponse(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[ReassignablePartitionResponse] = field(Array(ReassignablePartitionResponse), "0+")


class AlterPartitionReassignmentsResponse(Response, api_key=45, versions="0-1", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    allow_replication_factor_change: bool = field(Bool, "1+", default=True, ignorable=True)
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")
    responses: list[ReassignableTopicResponse] = field(Array(ReassignableTopicResponse), "0+")
