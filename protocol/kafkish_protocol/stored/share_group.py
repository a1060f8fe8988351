"""Share groups (KIP-932), in `__consumer_offsets`."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import CoordinatorKey, CoordinatorValue, Struct
from kafkish_protocol.types import UUID, Array, Int8, Int32, Int64, String, Uuid


class ShareGroupMemberMetadataKey(CoordinatorKey, api_key=10, versions="0", flexible="none"):
    group_id: str = field(String, "0")
    member_id: str = field(String, "0")


class ShareGroupMemberMetadataValue(CoordinatorValue, api_key=10, versions="0", flexible="0+"):
    rack_id: str | None = field(String, "0+", nullable="0+")
    client_id: str = field(String, "0+")
    client_host: str = field(String, "0+")
    subscribed_topic_names: list[str] = field(Array(String), "0+")


class ShareGroupMetadataKey(CoordinatorKey, api_key=11, versions="0", flexible="none"):
    group_id: str = field(String, "0")


class ShareGroupMetadataValue(CoordinatorValue, api_key=11, versions="0", flexible="0+"):
    epoch: int = field(Int32, "0+")
    metadata_hash: int = field(Int64, "0+")


class ShareGroupTargetAssignmentMetadataKey(CoordinatorKey, api_key=12, versions="0", flexible="none"):
    group_id: str = field(String, "0")


class ShareGroupTargetAssignmentMetadataValue(CoordinatorValue, api_key=12, versions="0", flexible="0+"):
    assignment_epoch: int = field(Int32, "0+")
    assignment_timestamp: int = field(Int64, "0+", tag=0, tagged="0+", ignorable=True)


class ShareGroupTargetAssignmentMemberKey(CoordinatorKey, api_key=13, versions="0", flexible="none"):
    group_id: str = field(String, "0")
    member_id: str = field(String, "0")


class TopicPartition(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[int] = field(Array(Int32), "0+")


class ShareGroupTargetAssignmentMemberValue(CoordinatorValue, api_key=13, versions="0", flexible="0+"):
    topic_partitions: list[TopicPartition] = field(Array(TopicPartition), "0+")


class ShareGroupCurrentMemberAssignmentKey(CoordinatorKey, api_key=14, versions="0", flexible="none"):
    group_id: str = field(String, "0")
    member_id: str = field(String, "0")


class TopicPartitions(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[int] = field(Array(Int32), "0+")


class ShareGroupCurrentMemberAssignmentValue(CoordinatorValue, api_key=14, versions="0", flexible="0+"):
    member_epoch: int = field(Int32, "0+")
    previous_member_epoch: int = field(Int32, "0+")
    state: int = field(Int8, "0+")
    assigned_partitions: list[TopicPartitions] = field(Array(TopicPartitions), "0+")


class ShareGroupStatePartitionMetadataKey(CoordinatorKey, api_key=15, versions="0", flexible="none"):
    group_id: str = field(String, "0")


class TopicPartitionsInfo(Struct):
    topic_id: Uuid = field(UUID, "0+")
    topic_name: str = field(String, "0+")
    partitions: list[int] = field(Array(Int32), "0+")


class TopicInfo(Struct):
    topic_id: Uuid = field(UUID, "0+")
    topic_name: str = field(String, "0+")


class ShareGroupStatePartitionMetadataValue(CoordinatorValue, api_key=15, versions="0", flexible="0+"):
    initializing_topics: list[TopicPartitionsInfo] = field(Array(TopicPartitionsInfo), "0+")
    initialized_topics: list[TopicPartitionsInfo] = field(Array(TopicPartitionsInfo), "0+")
    deleting_topics: list[TopicInfo] = field(Array(TopicInfo), "0+")
