"""DescribeTopicPartitions (75): topics and partitions, a page at a time."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Bool, Int16, Int32, String, Uuid


class TopicRequest(Struct):
    name: str = field(String, "0+", entity="topicName")


class Cursor(Struct):
    topic_name: str = field(String, "0+", entity="topicName")
    partition_index: int = field(Int32, "0+")


class DescribeTopicPartitionsRequest(Request, api_key=75, versions="0", flexible="0+", listeners="broker"):
    topics: list[TopicRequest] = field(Array(TopicRequest), "0+")
    response_partition_limit: int = field(Int32, "0+", default=2000)
    cursor: Cursor | None = field(Cursor, "0+", nullable="0+", default=None)


class DescribeTopicPartitionsResponsePartition(Struct):
    error_code: int = field(Int16, "0+")
    partition_index: int = field(Int32, "0+")
    leader_id: int = field(Int32, "0+", entity="brokerId")
    leader_epoch: int = field(Int32, "0+", default=-1, ignorable=True)
    replica_nodes: list[int] = field(Array(Int32), "0+", entity="brokerId")
    isr_nodes: list[int] = field(Array(Int32), "0+", entity="brokerId")
    eligible_leader_replicas: list[int] | None = field(
        Array(Int32), "0+", nullable="0+", default=None, entity="brokerId"
    )
    last_known_elr: list[int] | None = field(Array(Int32), "0+", nullable="0+", default=None, entity="brokerId")
    offline_replicas: list[int] = field(Array(Int32), "0+", ignorable=True, entity="brokerId")


class DescribeTopicPartitionsResponseTopic(Struct):
    error_code: int = field(Int16, "0+")
    name: str | None = field(String, "0+", nullable="0+", entity="topicName")
    topic_id: Uuid = field(UUID, "0+", ignorable=True)
    is_internal: bool = field(Bool, "0+", ignorable=True)
    partitions: list[DescribeTopicPartitionsResponsePartition] = field(
        Array(DescribeTopicPartitionsResponsePartition), "0+"
    )
    topic_authorized_operations: int = field(Int32, "0+", default=-2_147_483_648)


class DescribeTopicPartitionsResponse(Response, api_key=75, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+", ignorable=True)
    topics: list[DescribeTopicPartitionsResponseTopic] = field(Array(DescribeTopicPartitionsResponseTopic), "0+")
    next_cursor: Cursor | None = field(Cursor, "0+", nullable="0+", default=None)
