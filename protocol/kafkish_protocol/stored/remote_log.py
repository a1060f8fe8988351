"""Tiered storage (KIP-405), in `__remote_log_metadata`."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import MetadataRecord, Struct
from kafkish_protocol.types import UUID, Array, Bool, Bytes, Int8, Int32, Int64, String, Uuid


class TopicIdPartitionEntry(Struct):
    name: str = field(String, "0+")
    id: Uuid = field(UUID, "0+")
    partition: int = field(Int32, "0+")


class RemoteLogSegmentIdEntry(Struct):
    topic_id_partition: TopicIdPartitionEntry = field(TopicIdPartitionEntry, "0+")
    id: Uuid = field(UUID, "0+")


class SegmentLeaderEpochEntry(Struct):
    leader_epoch: int = field(Int32, "0+")
    offset: int = field(Int64, "0+")


class RemoteLogSegmentMetadataRecord(MetadataRecord, api_key=0, versions="0", flexible="0+"):
    remote_log_segment_id: RemoteLogSegmentIdEntry = field(RemoteLogSegmentIdEntry, "0+")
    start_offset: int = field(Int64, "0+")
    end_offset: int = field(Int64, "0+")
    broker_id: int = field(Int32, "0+")
    max_timestamp_ms: int = field(Int64, "0+")
    event_timestamp_ms: int = field(Int64, "0+")
    segment_leader_epochs: list[SegmentLeaderEpochEntry] = field(Array(SegmentLeaderEpochEntry), "0+")
    segment_size_in_bytes: int = field(Int32, "0+")
    custom_metadata: bytes | None = field(Bytes, "0+", nullable="0+", default=None)
    remote_log_segment_state: int = field(Int8, "0+")
    txn_index_empty: bool = field(Bool, "0+", tag=0, tagged="0+")


class RemoteLogSegmentMetadataUpdateRecord(MetadataRecord, api_key=1, versions="0", flexible="0+"):
    remote_log_segment_id: RemoteLogSegmentIdEntry = field(RemoteLogSegmentIdEntry, "0+")
    broker_id: int = field(Int32, "0+")
    event_timestamp_ms: int = field(Int64, "0+")
    custom_metadata: bytes | None = field(Bytes, "0+", nullable="0+", default=None)
    remote_log_segment_state: int = field(Int8, "0+")


class RemoteLogSegmentMetadataSnapshotRecord(MetadataRecord, api_key=3, versions="0", flexible="0+"):
    segment_id: Uuid = field(UUID, "0+")
    start_offset: int = field(Int64, "0+")
    end_offset: int = field(Int64, "0+")
    broker_id: int = field(Int32, "0+")
    max_timestamp_ms: int = field(Int64, "0+")
    event_timestamp_ms: int = field(Int64, "0+")
    segment_leader_epochs: list[SegmentLeaderEpochEntry] = field(Array(SegmentLeaderEpochEntry), "0+")
    segment_size_in_bytes: int = field(Int32, "0+")
    custom_metadata: bytes | None = field(Bytes, "0+", nullable="0+", default=None)
    remote_log_segment_state: int = field(Int8, "0+")
    txn_index_empty: bool = field(Bool, "0+", tag=0, tagged="0+")


class RemotePartitionDeleteMetadataRecord(MetadataRecord, api_key=2, versions="0", flexible="0+"):
    topic_id_partition: TopicIdPartitionEntry = field(TopicIdPartitionEntry, "0+")
    broker_id: int = field(Int32, "0+")
    event_timestamp_ms: int = field(Int64, "0+")
    remote_partition_delete_state: int = field(Int8, "0+")
