"""Streams groups (KIP-1071), in `__consumer_offsets`."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import CoordinatorKey, CoordinatorValue, Struct
from kafkish_protocol.types import Array, Int8, Int16, Int32, Int64, String, Uint16


class StreamsGroupMetadataKey(CoordinatorKey, api_key=17, versions="0", flexible="none"):
    group_id: str = field(String, "0")


class LastAssignmentConfig(Struct):
    key: str = field(String, "0+")
    value: str = field(String, "0+")


class StreamsGroupMetadataValue(CoordinatorValue, api_key=17, versions="0", flexible="0+"):
    epoch: int = field(Int32, "0+")
    metadata_hash: int = field(Int64, "0+")
    validated_topology_epoch: int = field(Int32, "0+", tag=0, tagged="0+", default=-1)
    last_assignment_configs: list[LastAssignmentConfig] | None = field(
        Array(LastAssignmentConfig), "0+", nullable="0+", tag=1, tagged="0+"
    )


class StreamsGroupMemberMetadataKey(CoordinatorKey, api_key=19, versions="0", flexible="none"):
    group_id: str = field(String, "0")
    member_id: str = field(String, "0")


class Endpoint(Struct):
    host: str = field(String, "0+")
    port: int = field(Uint16, "0+")


class KeyValue(Struct):
    key: str = field(String, "0+")
    value: str = field(String, "0+")


class StreamsGroupMemberMetadataValue(CoordinatorValue, api_key=19, versions="0", flexible="0+"):
    instance_id: str | None = field(String, "0+", nullable="0+")
    rack_id: str | None = field(String, "0+", nullable="0+")
    client_id: str = field(String, "0+")
    client_host: str = field(String, "0+")
    rebalance_timeout_ms: int = field(Int32, "0+", default=-1)
    topology_epoch: int = field(Int32, "0+")
    process_id: str = field(String, "0+")
    user_endpoint: Endpoint | None = field(Endpoint, "0+", nullable="0+", default=None)
    client_tags: list[KeyValue] = field(Array(KeyValue), "0+")


class StreamsGroupTargetAssignmentMetadataKey(CoordinatorKey, api_key=20, versions="0", flexible="none"):
    group_id: str = field(String, "0")


class StreamsGroupTargetAssignmentMetadataValue(CoordinatorValue, api_key=20, versions="0", flexible="0+"):
    assignment_epoch: int = field(Int32, "0+")
    assignment_timestamp: int = field(Int64, "0+", tag=0, tagged="0+", ignorable=True)


class StreamsGroupTargetAssignmentMemberKey(CoordinatorKey, api_key=21, versions="0", flexible="none"):
    group_id: str = field(String, "0")
    member_id: str = field(String, "0")


class StreamsGroupTargetAssignmentMemberValueTaskIds(Struct, name="TaskIds"):
    subtopology_id: str = field(String, "0+")
    partitions: list[int] = field(Array(Int32), "0+")


class StreamsGroupTargetAssignmentMemberValue(CoordinatorValue, api_key=21, versions="0", flexible="0+"):
    active_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds] = field(
        Array(StreamsGroupTargetAssignmentMemberValueTaskIds), "0+"
    )
    standby_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds] = field(
        Array(StreamsGroupTargetAssignmentMemberValueTaskIds), "0+"
    )
    warmup_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds] = field(
        Array(StreamsGroupTargetAssignmentMemberValueTaskIds), "0+"
    )


class StreamsGroupCurrentMemberAssignmentKey(CoordinatorKey, api_key=22, versions="0", flexible="none"):
    group_id: str = field(String, "0")
    member_id: str = field(String, "0")


class StreamsGroupCurrentMemberAssignmentValueTaskIds(Struct, name="TaskIds"):
    subtopology_id: str = field(String, "0+")
    partitions: list[int] = field(Array(Int32), "0+")
    assignment_epochs: list[int] | None = field(Array(Int32), "0+", nullable="0+", tag=0, tagged="0+")


class StreamsGroupCurrentMemberAssignmentValue(CoordinatorValue, api_key=22, versions="0", flexible="0+"):
    member_epoch: int = field(Int32, "0+")
    previous_member_epoch: int = field(Int32, "0+")
    state: int = field(Int8, "0+")
    active_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = field(
        Array(StreamsGroupCurrentMemberAssignmentValueTaskIds), "0+"
    )
    standby_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = field(
        Array(StreamsGroupCurrentMemberAssignmentValueTaskIds), "0+"
    )
    warmup_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = field(
        Array(StreamsGroupCurrentMemberAssignmentValueTaskIds), "0+"
    )
    active_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = field(
        Array(StreamsGroupCurrentMemberAssignmentValueTaskIds), "0+"
    )
    standby_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = field(
        Array(StreamsGroupCurrentMemberAssignmentValueTaskIds), "0+"
    )
    warmup_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = field(
        Array(StreamsGroupCurrentMemberAssignmentValueTaskIds), "0+"
    )


class StreamsGroupTopologyKey(CoordinatorKey, api_key=23, versions="0", flexible="none"):
    group_id: str = field(String, "0")


class TopicConfig(Struct):
    key: str = field(String, "0+")
    value: str = field(String, "0+")


class TopicInfo(Struct):
    name: str = field(String, "0+")
    partitions: int = field(Int32, "0+")
    replication_factor: int = field(Int16, "0+")
    topic_configs: list[TopicConfig] = field(Array(TopicConfig), "0+")


class CopartitionGroup(Struct):
    source_topics: list[int] = field(Array(Int16), "0+")
    source_topic_regex: list[int] = field(Array(Int16), "0+")
    repartition_source_topics: list[int] = field(Array(Int16), "0+")


class Subtopology(Struct):
    subtopology_id: str = field(String, "0+")
    source_topics: list[str] = field(Array(String), "0+")
    source_topic_regex: list[str] = field(Array(String), "0+")
    state_changelog_topics: list[TopicInfo] = field(Array(TopicInfo), "0+")
    repartition_sink_topics: list[str] = field(Array(String), "0+")
    repartition_source_topics: list[TopicInfo] = field(Array(TopicInfo), "0+")
    copartition_groups: list[CopartitionGroup] = field(Array(CopartitionGroup), "0+")


class StreamsGroupTopologyValue(CoordinatorValue, api_key=23, versions="0", flexible="0+"):
    epoch: int = field(Int32, "0+")
    subtopologies: list[Subtopology] = field(Array(Subtopology), "0+")
