"""AlterShareGroupOffsets (91): move where a share group stands."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, Int64, String, Uuid


class AlterShareGroupOffsetsRequestPartition(Struct):
    partition_index: int = field(Int32, "0+")
    start_offset: int = field(Int64, "0+")


class AlterShareGroupOffsetsRequestTopic(Struct):
    topic_name: str = field(String, "0+", entity="topicName")
    partitions: list[AlterShareGroupOffsetsRequestPartition] = field(
        Array(AlterShareGroupOffsetsRequestPartition), "0+"
    )


class AlterShareGroupOffsetsRequest(Request, api_key=91, versions="0", flexible="0+", listeners="broker"):
    group_id: str = field(String, "0+", entity="groupId")
    topics: list[AlterShareGroupOffsetsRequestTopic] = field(Array(AlterShareGroupOffsetsRequestTopic), "0+")


class AlterShareGroupOffsetsResponsePartition(Struct):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)


class AlterShareGroupOffsetsResponseTopic(Struct):
    topic_name: str = field(String, "0+", entity="topicName")
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[AlterShareGroupOffsetsResponsePartition] = field(
        Array(AlterShareGroupOffsetsResponsePartition), "0+"
    )


class AlterShareGroupOffsetsResponse(Response, api_key=91, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)
    responses: list[AlterShareGroupOffsetsResponseTopic] = field(Array(AlterShareGroupOffsetsResponseTopic), "0+")
