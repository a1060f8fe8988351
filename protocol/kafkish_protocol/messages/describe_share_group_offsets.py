"""DescribeShareGroupOffsets (90): where share groups stand."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, Int64, String, Uuid


class DescribeShareGroupOffsetsRequestTopic(Struct):
    topic_name: str = field(String, "0+", entity="topicName")
    partitions: list[int] = field(Array(Int32), "0+")


class DescribeShareGroupOffsetsRequestGroup(Struct):
    group_id: str = field(String, "0+", entity="groupId")
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None = field(
        Array(DescribeShareGroupOffsetsRequestTopic), "0+", nullable="0+"
    )


class DescribeShareGroupOffsetsRequest(Request, api_key=90, versions="0-1", flexible="0+", listeners="broker"):
    groups: list[DescribeShareGroupOffsetsRequestGroup] = field(Array(DescribeShareGroupOffsetsRequestGroup), "0+")


class DescribeShareGroupOffsetsResponsePartition(Struct):
    partition_index: int = field(Int32, "0+")
    start_offset: int = field(Int64, "0+")
    leader_epoch: int = field(Int32, "0+")
    lag: int = field(Int64, "1+", default=-1, ignorable=True)
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)


class DescribeShareGroupOffsetsResponseTopic(Struct):
    topic_name: str = field(String, "0+", entity="topicName")
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[DescribeShareGroupOffsetsResponsePartition] = field(
        Array(DescribeShareGroupOffsetsResponsePartition), "0+"
    )


class DescribeShareGroupOffsetsResponseGroup(Struct):
    group_id: str = field(String, "0+", entity="groupId")
    topics: list[DescribeShareGroupOffsetsResponseTopic] = field(Array(DescribeShareGroupOffsetsResponseTopic), "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)


class DescribeShareGroupOffsetsResponse(Response, api_key=90, versions="0-1", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    groups: list[DescribeShareGroupOffsetsResponseGroup] = field(Array(DescribeShareGroupOffsetsResponseGroup), "0+")
