"""CreatePartitions (37): give topics more partitions."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bool, Int16, Int32, String


class CreatePartitionsAssignment(Struct):
    broker_ids: list[int] = field(Array(Int32), "0+", entity="brokerId")


class CreatePartitionsTopic(Struct):
    name: str = field(String, "0+", entity="topicName")
    count: int = field(Int32, "0+")
    assignments: list[CreatePartitionsAssignment] | None = field(Array(CreatePartitionsAssignment), "0+", nullable="0+")


class CreatePartitionsRequest(Request, api_key=37, versions="0-3", flexible="2+", listeners="broker controller"):
    topics: list[CreatePartitionsTopic] = field(Array(CreatePartitionsTopic), "0+")
    timeout_ms: int = field(Int32, "0+")
    validate_only: bool = field(Bool, "0+")


class CreatePartitionsTopicResult(Struct):
    name: str = field(String, "0+", entity="topicName")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)


class CreatePartitionsResponse(Response, api_key=37, versions="0-3", flexible="2+"):
    throttle_time_ms: int = field(Int32, "0+")
    results: list[CreatePartitionsTopicResult] = field(Array(CreatePartitionsTopicResult), "0+")
