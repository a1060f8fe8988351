"""InitializeShareGroupState (83): start the stored state of share partitions."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, Int64, String, Uuid


class PartitionData(Struct):
    partition: int = field(Int32, "0+")
    state_epoch: int = field(Int32, "0+")
    start_offset: int = field(Int64, "0+")


class InitializeStateData(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[PartitionData] = field(Array(PartitionData), "0+")


class InitializeShareGroupStateRequest(Request, api_key=83, versions="0", flexible="0+", listeners="broker"):
    group_id: str = field(String, "0+")
    topics: list[InitializeStateData] = field(Array(InitializeStateData), "0+")


class PartitionResult(Struct):
    partition: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)


class InitializeStateResult(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[PartitionResult] = field(Array(PartitionResult), "0+")


class InitializeShareGroupStateResponse(Response, api_key=83, versions="0", flexible="0+"):
    results: list[InitializeStateResult] = field(Array(InitializeStateResult), "0+")
