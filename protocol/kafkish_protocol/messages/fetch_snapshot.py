"""FetchSnapshot (59): read a snapshot of the metadata log, in chunks."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, Int64, Records, String, Uint16, Uuid


class SnapshotId(Struct):
    end_offset: int = field(Int64, "0+")
    epoch: int = field(Int32, "0+")


class FetchSnapshotRequestPartitionSnapshot(Struct, name="PartitionSnapshot"):
    partition: int = field(Int32, "0+")
    current_leader_epoch: int = field(Int32, "0+")
    snapshot_id: SnapshotId = field(SnapshotId, "0+")
    position: int = field(Int64, "0+")
    replica_directory_id: Uuid = field(UUID, "1+", tag=0, tagged="1+", ignorable=True)


class FetchSnapshotRequestTopicSnapshot(Struct, name="TopicSnapshot"):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[FetchSnapshotRequestPartitionSnapshot] = field(Array(FetchSnapshotRequestPartitionSnapshot), "0+")


class FetchSnapshotRequest(Request, api_key=59, versions="0-1", flexible="0+", listeners="controller"):
    cluster_id: str | None = field(String, "0+", nullable="0+", tag=0, tagged="0+", default=None)
    replica_id: int = field(Int32, "0+", default=-1, entity="brokerId")
    max_bytes: int = field(Int32, "0+", default=0x7FFFFFFF)
    topics: list[FetchSnapshotRequestTopicSnapshot] = field(Array(FetchSnapshotRequestTopicSnapshot), "0+")


class LeaderIdAndEpoch(Struct):
    leader_id: int = field(Int32, "0+", entity="brokerId")
    leader_epoch: int = field(Int32, "0+")


class FetchSnapshotResponsePartitionSnapshot(Struct, name="PartitionSnapshot"):
    index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    snapshot_id: SnapshotId = field(SnapshotId, "0+")
    current_leader: LeaderIdAndEpoch = field(LeaderIdAndEpoch, "0+", tag=0, tagged="0+")
    size: int = field(Int64, "0+")
    position: int = field(Int64, "0+")
    unaligned_records: memoryview = field(Records, "0+")


class FetchSnapshotResponseTopicSnapshot(Struct, name="TopicSnapshot"):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[FetchSnapshotResponsePartitionSnapshot] = field(
        Array(FetchSnapshotResponsePartitionSnapshot), "0+"
    )


class NodeEndpoint(Struct):
    node_id: int = field(Int32, "1+", entity="brokerId")
    host: str = field(String, "1+")
    port: int = field(Uint16, "1+")


class FetchSnapshotResponse(Response, api_key=59, versions="0-1", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+", ignorable=True)
    error_code: int = field(Int16, "0+")
    topics: list[FetchSnapshotResponseTopicSnapshot] = field(Array(FetchSnapshotResponseTopicSnapshot), "0+")
    node_endpoints: list[NodeEndpoint] = field(Array(NodeEndpoint), "1+", tag=0, tagged="1+")
