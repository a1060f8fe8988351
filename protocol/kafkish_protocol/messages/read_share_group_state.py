"""ReadShareGroupState (84): read the stored state of share partitions."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int8, Int16, Int32, Int64, String, Uuid


class PartitionData(Struct):
    partition: int = field(Int32, "0+")
    leader_epoch: int = field(Int32, "0+")


class ReadStateData(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[PartitionData] = field(Array(PartitionData), "0+")


class ReadShareGroupStateRequest(Request, api_key=84, versions="0", flexible="0+", listeners="broker"):
    group_id: str = field(String, "0+")
    topics: list[ReadStateData] = field(Array(ReadStateData), "0+")


class StateBatch(Struct):
    first_offset: int = field(Int64, "0+")
    last_offset: int = field(Int64, "0+")
    delivery_state: int = field(Int8, "0+")
    delivery_count: int = field(Int16, "0+")


class PartitionResult(Struct):
    partition: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)
    state_epoch: int = field(Int32, "0+")
    start_offset: int = field(Int64, "0+")
    state_batches: list[StateBatch] = field(Array(StateBatch), "0+")


class ReadStateResult(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[PartitionResult] = field(Array(PartitionResult), "0+")


class ReadShareGroupStateResponse(Response, api_key=84, versions="0", flexible="0+"):
    results: list[ReadStateResult] = field(Array(ReadStateResult), "0+")
