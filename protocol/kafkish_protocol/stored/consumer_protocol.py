"""What consumers of the classic protocol tell each other through the coordinator."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Data, Struct
from kafkish_protocol.types import Array, Bytes, Int32, String


class ConsumerProtocolSubscriptionTopicPartition(Struct, name="TopicPartition"):
    topic: str = field(String, "1+", entity="topicName")
    partitions: list[int] = field(Array(Int32), "1+")


class ConsumerProtocolSubscription(Data, versions="0-3", flexible="none"):
    topics: list[str] = field(Array(String), "0+")
    user_data: bytes | None = field(Bytes, "0+", nullable="0+", default=None)
    owned_partitions: list[ConsumerProtocolSubscriptionTopicPartition] = field(
        Array(ConsumerProtocolSubscriptionTopicPartition), "1+", ignorable=True
    )
    generation_id: int = field(Int32, "2+", default=-1, ignorable=True)
    rack_id: str | None = field(String, "3+", nullable="3+", default=None, ignorable=True)


class ConsumerProtocolAssignmentTopicPartition(Struct, name="TopicPartition"):
    topic: str = field(String, "0+", entity="topicName")
    partitions: list[int] = field(Array(Int32), "0+")


class ConsumerProtocolAssignment(Data, versions="0-3", flexible="none"):
    assigned_partitions: list[ConsumerProtocolAssignmentTopicPartition] = field(
        Array(ConsumerProtocolAssignmentTopicPartition), "0+"
    )
    user_data: bytes | None = field(Bytes, "0+", nullable="0+", default=None)
