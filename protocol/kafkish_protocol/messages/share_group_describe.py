"""ShareGroupDescribe (77): state and members of share groups."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Bool, Int16, Int32, String, Uuid


class ShareGroupDescribeRequest(Request, api_key=77, versions="1", flexible="0+", listeners="broker"):
    group_ids: list[str] = field(Array(String), "0+", entity="groupId")
    include_authorized_operations: bool = field(Bool, "0+")


class TopicPartitions(Struct):
    topic_id: Uuid = field(UUID, "0+")
    topic_name: str = field(String, "0+", entity="topicName")
    partitions: list[int] = field(Array(Int32), "0+")


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = field(Array(TopicPartitions), "0+")


class Member(Struct):
    member_id: str = field(String, "0+")
    rack_id: str | None = field(String, "0+", nullable="0+", default=None)
    member_epoch: int = field(Int32, "0+")
    client_id: str = field(String, "0+")
    client_host: str = field(String, "0+")
    subscribed_topic_names: list[str] = field(Array(String), "0+", entity="topicName")
    assignment: Assignment = field(Assignment, "0+")


class DescribedGroup(Struct):
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)
    group_id: str = field(String, "0+", entity="groupId")
    group_state: str = field(String, "0+")
    group_epoch: int = field(Int32, "0+")
    assignment_epoch: int = field(Int32, "0+")
    assignor_name: str = field(String, "0+")
    members: list[Member] = field(Array(Member), "0+")
    authorized_operations: int = field(Int32, "0+", default=-2_147_483_648)


class ShareGroupDescribeResponse(Response, api_key=77, versions="1", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    groups: list[DescribedGroup] = field(Array(DescribedGroup), "0+")
