"""DeleteShareGroupState (86): drop the stored state of share partitions."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, String, Uuid


class PartitionData(Struct):
    partition: int = field(Int32, "0+")


class DeleteStateData(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[PartitionData] = field(Array(PartitionData), "0+")


class DeleteShareGroupStateRequest(Request, api_key=86, versions="0", flexible="0+", listeners="broker"):
    group_id: str = field(String, "0+")
    topics: list[DeleteStateData] = field(Array(DeleteStateData), "0+")


class PartitionResult(Struct):
    partition: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)


class DeleteStateResult(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[PartitionResult] = field(Array(PartitionResult), "0+")


class DeleteShareGroupStateResponse(Response, api_key=86, versions="0", flexible="0+"):
    results: list[DeleteStateResult] = field(Array(DeleteStateResult), "0+")
