"""ListOffsets (2): find offsets by timestamp, and the special ones such as the earliest and the latest."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int8, Int16, Int32, Int64, String


class ListOffsetsPartition(Struct):
    partition_index: int = field(Int32, "0+")
    current_leader_epoch: int = field(Int32, "4+", default=-1, ignorable=True)
    timestamp: int = field(Int64, "0+")


class ListOffsetsTopic(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[ListOffsetsPartition] = field(Array(ListOffsetsPartition), "0+")


class ListOffsetsRequest(Request, api_key=2, versions="1-11", flexible="6+", listeners="broker"):
    replica_id: int = field(Int32, "0+", entity="brokerId")
    isolation_level: int = field(Int8, "2+")
    topics: list[ListOffsetsTopic] = field(Array(ListOffsetsTopic), "0+")
    timeout_ms: int = field(Int32, "10+", ignorable=True)


class ListOffsetsPartitionResponse(Struct):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    timestamp: int = field(Int64, "1+", default=-1)
    offset: int = field(Int64, "1+", default=-1)
    leader_epoch: int = field(Int32, "4+", default=-1)


class ListOffsetsTopicResponse(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[ListOffsetsPartitionResponse] = field(Array(ListOffsetsPartitionResponse), "0+")


class ListOffsetsResponse(Response, api_key=2, versions="1-11", flexible="6+"):
    throttle_time_ms: int = field(Int32, "2+", ignorable=True)
    topics: list[ListOffsetsTopicResponse] = field(Array(ListOffsetsTopicResponse), "0+")
