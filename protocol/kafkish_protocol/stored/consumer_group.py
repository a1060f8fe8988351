"""Groups of the consumer protocol (KIP-848), in `__consumer_offsets`."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import CoordinatorKey, CoordinatorValue, Struct
from kafkish_protocol.types import UUID, Array, Bytes, Int8, Int32, Int64, String, Uuid


class ConsumerGroupMetadataKey(CoordinatorKey, api_key=3, versions="0", flexible="none"):
    group_id: str = field(String, "0")


class ConsumerGroupMetadataValue(CoordinatorValue, api_key=3, versions="0", flexible="0+"):
    epoch: int = field(Int32, "0+")
    metadata_hash: int = field(Int64, "0+", tag=0, tagged="0+")


class ConsumerGroupPartitionMetadataKey(CoordinatorKey, api_key=4, versions="0", flexible="none"):
    group_id: str = field(String, "0")


class PartitionMetadata(Struct):
    partition: int = field(Int32, "0+")
    racks: list[str] = field(Array(String), "0+")


class TopicMetadata(Struct):
    topic_id: Uuid = field(UUID, "0+")
    topic_name: str = field(String, "0+")
    num_partitions: int = field(Int32, "0+")
    partition_metadata: list[PartitionMetadata] = field(Array(PartitionMetadata), "0+")


class ConsumerGroupPartitionMetadataValue(CoordinatorValue, api_key=4, versions="0", flexible="0+"):
    topics: list[TopicMetadata] = field(Array(TopicMetadata), "0+")


class ConsumerGroupMemberMetadataKey(CoordinatorKey, api_key=5, versions="0", flexible="none"):
    group_id: str = field(String, "0")
    member_id: str = field(String, "0")


class ClassicProtocol(Struct):
    name: str = field(String, "0+")
    metadata: bytes = field(Bytes, "0+")


class ClassicMemberMetadata(Struct):
    session_timeout_ms: int = field(Int32, "0+")
    supported_protocols: list[ClassicProtocol] = field(Array(ClassicProtocol), "0+")


class ConsumerGroupMemberMetadataValue(CoordinatorValue, api_key=5, versions="0", flexible="0+"):
    instance_id: str | None = field(String, "0+", nullable="0+")
    rack_id: str | None = field(String, "0+", nullable="0+")
    client_id: str = field(String, "0+")
    client_host: str = field(String, "0+")
    subscribed_topic_names: list[str] = field(Array(String), "0+")
    subscribed_topic_regex: str | None = field(String, "0+", nullable="0+")
    rebalance_timeout_ms: int = field(Int32, "0+", default=-1)
    server_assignor: str | None = field(String, "0+", nullable="0+")
    classic_member_metadata: ClassicMemberMetadata | None = field(
        ClassicMemberMetadata, "0+", nullable="0+", tag=0, tagged="0+"
    )


class ConsumerGroupTargetAssignmentMetadataKey(CoordinatorKey, api_key=6, versions="0", flexible="none"):
    group_id: str = field(String, "0")


class ConsumerGroupTargetAssignmentMetadataValue(CoordinatorValue, api_key=6, versions="0", flexible="0+"):
    assignment_epoch: int = field(Int32, "0+")
    assignment_timestamp: int = field(Int64, "0+", tag=0, tagged="0+", ignorable=True)


class ConsumerGroupTargetAssignmentMemberKey(CoordinatorKey, api_key=7, versions="0", flexible="none"):
    group_id: str = field(String, "0")
    member_id: str = field(String, "0")


class TopicPartition(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[int] = field(Array(Int32), "0+")


class ConsumerGroupTargetAssignmentMemberValue(CoordinatorValue, api_key=7, versions="0", flexible="0+"):
    topic_partitions: list[TopicPartition] = field(Array(TopicPartition), "0+")


class ConsumerGroupCurrentMemberAssignmentKey(CoordinatorKey, api_key=8, versions="0", flexible="none"):
    group_id: str = field(String, "0")
    member_id: str = field(String, "0")


class TopicPartitions(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[int] = field(Array(Int32), "0+")
    assignment_epochs: list[int] | None = field(Array(Int32), "0+", nullable="0+", tag=0, tagged="0+")


class ConsumerGroupCurrentMemberAssignmentValue(CoordinatorValue, api_key=8, versions="0", flexible="0+"):
    member_epoch: int = field(Int32, "0+")
    previous_member_epoch: int = field(Int32, "0+")
    state: int = field(Int8, "0+")
    assigned_partitions: list[TopicPartitions] = field(Array(TopicPartitions), "0+")
    partitions_pending_revocation: list[TopicPartitions] = field(Array(TopicPartitions), "0+")


class ConsumerGroupRegularExpressionKey(CoordinatorKey, api_key=16, versions="0", flexible="none"):
    group_id: str = field(String, "0")
    regular_expression: str = field(String, "0")


class ConsumerGroupRegularExpressionValue(CoordinatorValue, api_key=16, versions="0", flexible="0+"):
    topics: list[str] = field(Array(String), "0+")
    version: int = field(Int64, "0+")
    timestamp: int = field(Int64, "0+")
