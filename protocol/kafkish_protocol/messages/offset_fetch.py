"""OffsetFetch (9): ask how far groups have read."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Bool, Int16, Int32, Int64, String, Uuid


class OffsetFetchRequestTopic(Struct):
    name: str = field(String, "0-7", entity="topicName")
    partition_indexes: list[int] = field(Array(Int32), "0-7")


class OffsetFetchRequestTopics(Struct):
    name: str = field(String, "8-9", ignorable=True, entity="topicName")
    topic_id: Uuid = field(UUID, "10+", ignorable=True)
    partition_indexes: list[int] = field(Array(Int32), "8+")


class OffsetFetchRequestGroup(Struct):
    group_id: str = field(String, "8+", entity="groupId")
    member_id: str | None = field(String, "9+", nullable="9+", default=None, ignorable=True)
    member_epoch: int = field(Int32, "9+", default=-1, ignorable=True)
    topics: list[OffsetFetchRequestTopics] | None = field(Array(OffsetFetchRequestTopics), "8+", nullable="8+")


class OffsetFetchRequest(Request, api_key=9, versions="1-10", flexible="6+", listeners="broker"):
    group_id: str = field(String, "0-7", entity="groupId")
    topics: list[OffsetFetchRequestTopic] | None = field(Array(OffsetFetchRequestTopic), "0-7", nullable="2-7")
    groups: list[OffsetFetchRequestGroup] = field(Array(OffsetFetchRequestGroup), "8+")
    require_stable: bool = field(Bool, "7+")


class OffsetFetchResponsePartition(Struct):
    partition_index: int = field(Int32, "0-7")
    committed_offset: int = field(Int64, "0-7")
    committed_leader_epoch: int = field(Int32, "5-7", default=-1, ignorable=True)
    metadata: str | None = field(String, "0-7", nullable="0-7")
    error_code: int = field(Int16, "0-7")


class OffsetFetchResponseTopic(Struct):
    name: str = field(String, "0-7", entity="topicName")
    partitions: list[OffsetFetchResponsePartition] = field(Array(OffsetFetchResponsePartition), "0-7")


class OffsetFetchResponsePartitions(Struct):
    partition_index: int = field(Int32, "8+")
    committed_offset: int = field(Int64, "8+")
    committed_leader_epoch: int = field(Int32, "8+", default=-1, ignorable=True)
    metadata: str | None = field(String, "8+", nullable="8+")
    error_code: int = field(Int16, "8+")


class OffsetFetchResponseTopics(Struct):
    name: str = field(String, "8-9", ignorable=True, entity="topicName")
    topic_id: Uuid = field(UUID, "10+", ignorable=True)
    partitions: list[OffsetFetchResponsePartitions] = field(Array(OffsetFetchResponsePartitions), "8+")


class OffsetFetchResponseGroup(Struct):
    group_id: str = field(String, "8+", entity="groupId")
    topics: list[OffsetFetchResponseTopics] = field(Array(OffsetFetchResponseTopics), "8+")
    error_code: int = field(Int16, "8+")


class OffsetFetchResponse(Response, api_key=9, versions="1-10", flexible="6+"):
    throttle_time_ms: int = field(Int32, "3+", ignorable=True)
    topics: list[OffsetFetchResponseTopic] = field(Array(OffsetFetchResponseTopic), "0-7")
    error_code: int = field(Int16, "2-7", ignorable=True)
    groups: list[OffsetFetchResponseGroup] = field(Array(OffsetFetchResponseGroup), "8+")
