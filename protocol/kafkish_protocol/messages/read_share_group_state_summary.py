"""ReadShareGroupStateSummary (87): read the start offsets of share partitions."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, Int64, String, Uuid


class PartitionData(Struct):
    partition: int = field(Int32, "0+")
    leader_epoch: int = field(Int32, "0+")


class ReadStateSummaryData(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[PartitionData] = field(Array(PartitionData), "0+")


class ReadShareGroupStateSummaryRequest(Request, api_key=87, versions="0-1", flexible="0+", listeners="broker"):
    group_id: str = field(String, "0+")
    topics: list[ReadStateSummaryData] = field(Array(ReadStateSummaryData), "0+")


class PartitionResult(Struct):
    partition: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)
    state_epoch: int = field(Int32, "0+")
    leader_epoch: int = field(Int32, "0+")
    start_offset: int = field(Int64, "0+")
    delivery_complete_count: int = field(Int32, "1+", default=-1, ignorable=True)


class ReadStateSummaryResult(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[PartitionResult] = field(Array(PartitionResult), "0+")


class ReadShareGroupStateSummaryResponse(Response, api_key=87, versions="0-1", flexible="0+"):
    results: list[ReadStateSummaryResult] = field(Array(ReadStateSummaryResult), "0+")
