"""OffsetDelete (47): forget a group's offsets of some partitions."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int16, Int32, String


class OffsetDeleteRequestPartition(Struct):
    partition_index: int = field(Int32, "0+")


class OffsetDeleteRequestTopic(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[OffsetDeleteRequestPartition] = field(Array(OffsetDeleteRequestPartition), "0+")


class OffsetDeleteRequest(Request, api_key=47, versions="0", flexible="none", listeners="broker"):
    group_id: str = field(String, "0+", entity="groupId")
    topics: list[OffsetDeleteRequestTopic] = field(Array(OffsetDeleteRequestTopic), "0+")


class OffsetDeleteResponsePartition(Struct):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")


class OffsetDeleteResponseTopic(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[OffsetDeleteResponsePartition] = field(Array(OffsetDeleteResponsePartition), "0+")


class OffsetDeleteResponse(Response, api_key=47, versions="0", flexible="none"):
    error_code: int = field(Int16, "0+")
    throttle_time_ms: int = field(Int32, "0+", ignorable=True)
    topics: list[OffsetDeleteResponseTopic] = field(Array(OffsetDeleteResponseTopic), "0+")
