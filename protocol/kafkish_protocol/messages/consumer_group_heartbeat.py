"""ConsumerGroupHeartbeat (68): join, live in and leave a group of the consumer protocol (KIP-848)."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, String, Uuid


class TopicPartitions(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[int] = field(Array(Int32), "0+")


class ConsumerGroupHeartbeatRequest(Request, api_key=68, versions="0-1", flexible="0+", listeners="broker"):
    group_id: str = field(String, "0+", entity="groupId")
    member_id: str = field(String, "0+")
    member_epoch: int = field(Int32, "0+")
    instance_id: str | None = field(String, "0+", nullable="0+", default=None)
    rack_id: str | None = field(String, "0+", nullable="0+", default=None)
    rebalance_timeout_ms: int = field(Int32, "0+", default=-1)
    subscribed_topic_names: list[str] | None = field(
        Array(String), "0+", nullable="0+", default=None, entity="topicName"
    )
    subscribed_topic_regex: str | None = field(String, "1+", nullable="1+", default=None)
    server_assignor: str | None = field(String, "0+", nullable="0+", default=None)
    topic_partitions: list[TopicPartitions] | None = field(Array(TopicPartitions), "0+", nullable="0+", default=None)


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = field(Array(TopicPartitions), "0+")


class ConsumerGroupHeartbeatResponse(Response, api_key=68, versions="0-1", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)
    member_id: str | None = field(String, "0+", nullable="0+", default=None)
    member_epoch: int = field(Int32, "0+")
    heartbeat_interval_ms: int = field(Int32, "0+")
    assignment: Assignment | None = field(Assignment, "0+", nullable="0+", default=None)
