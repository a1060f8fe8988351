"""WriteShareGroupState (85): store the state of share partitions."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int8, Int16, Int32, Int64, String, Uuid


class StateBatch(Struct):
    first_offset: int = field(Int64, "0+")
    last_offset: int = field(Int64, "0+")
    delivery_state: int = field(Int8, "0+")
    delivery_count: int = field(Int16, "0+")


class PartitionData(Struct):
    partition: int = field(Int32, "0+")
    state_epoch: int = field(Int32, "0+")
    leader_epoch: int = field(Int32, "0+")
    start_offset: int = field(Int64, "0+")
    delivery_complete_count: int = field(Int32, "1+", default=-1, ignorable=True)
    state_batches: list[StateBatch] = field(Array(StateBatch), "0+")


class WriteStateData(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[PartitionData] = field(Array(PartitionData), "0+")


class WriteShareGroupStateRequest(Request, api_key=85, versions="0-1", flexible="0+", listeners="broker"):
    group_id: str = field(String, "0+")
    topics: list[WriteStateData] = field(Array(WriteStateData), "0+")


class PartitionResult(Struct):
    partition: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)


class WriteStateResult(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[PartitionResult] = field(Array(PartitionResult), "0+")


class WriteShareGroupStateResponse(Response, api_key=85, versions="0-1", flexible="0+"):
    results: list[WriteStateResult] = field(Array(WriteStateResult), "0+")
