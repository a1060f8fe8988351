"""ShareGroupHeartbeat (76): join, live in and leave a share group (KIP-932)."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, String, Uuid


class ShareGroupHeartbeatRequest(Request, api_key=76, versions="1", flexible="0+", listeners="broker"):
    group_id: str = field(String, "0+", entity="groupId")
    member_id: str = field(String, "0+")
    member_epoch: int = field(Int32, "0+")
    rack_id: str | None = field(String, "0+", nullable="0+", default=None)
    subscribed_topic_names: list[str] | None = field(
        Array(String), "0+", nullable="0+", default=None, entity="topicName"
    )


class TopicPartitions(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[int] = field(Array(Int32), "0+")


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = field(Array(TopicPartitions), "0+")


class ShareGroupHeartbeatResponse(Response, api_key=76, versions="1", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)
    member_id: str | None = field(String, "0+", nullable="0+", default=None)
    member_epoch: int = field(Int32, "0+")
    heartbeat_interval_ms: int = field(Int32, "0+")
    assignment: Assignment | None = field(Assignment, "0+", nullable="0+", default=None)
