"""OffsetCommit (8): store how far a group has read."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, Int64, String, Uuid


class OffsetCommitRequestPartition(Struct):
    partition_index: int = field(Int32, "0+")
    committed_offset: int = field(Int64, "0+")
    committed_leader_epoch: int = field(Int32, "6+", default=-1, ignorable=True)
    committed_metadata: str | None = field(String, "0+", nullable="0+")


class OffsetCommitRequestTopic(Struct):
    name: str = field(String, "0-9", ignorable=True, entity="topicName")
    topic_id: Uuid = field(UUID, "10+", ignorable=True)
    partitions: list[OffsetCommitRequestPartition] = field(Array(OffsetCommitRequestPartition), "0+")


class OffsetCommitRequest(Request, api_key=8, versions="2-10", flexible="8+", listeners="broker"):
    group_id: str = field(String, "0+", entity="groupId")
    generation_id_or_member_epoch: int = field(Int32, "1+", default=-1, ignorable=True)
    member_id: str = field(String, "1+", ignorable=True)
    group_instance_id: str | None = field(String, "7+", nullable="7+", default=None)
    retention_time_ms: int = field(Int64, "2-4", default=-1, ignorable=True)
    topics: list[OffsetCommitRequestTopic] = field(Array(OffsetCommitRequestTopic), "0+")


class OffsetCommitResponsePartition(Struct):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")


class OffsetCommitResponseTopic(Struct):
    name: str = field(String, "0-9", ignorable=True, entity="topicName")
    topic_id: Uuid = field(UUID, "10+", ignorable=True)
    partitions: list[OffsetCommitResponsePartition] = field(Array(OffsetCommitResponsePartition), "0+")


class OffsetCommitResponse(Response, api_key=8, versions="2-10", flexible="8+"):
    throttle_time_ms: int = field(Int32, "3+", ignorable=True)
    topics: list[OffsetCommitResponseTopic] = field(Array(OffsetCommitResponseTopic), "0+")
