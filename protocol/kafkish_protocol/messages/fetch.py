"""Fetch (1): read record batches, as a consumer or as a replica."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int8, Int16, Int32, Int64, Records, String, Uuid


class ReplicaState(Struct):
    replica_id: int = field(Int32, "15+", default=-1, entity="brokerId")
    replica_epoch: int = field(Int64, "15+", default=-1)


class FetchPartition(Struct):
    partition: int = field(Int32, "0+")
    current_leader_epoch: int = field(Int32, "9+", default=-1, ignorable=True)
    fetch_offset: int = field(Int64, "0+")
    last_fetched_epoch: int = field(Int32, "12+", default=-1)
    log_start_offset: int = field(Int64, "5+", default=-1, ignorable=True)
    partition_max_bytes: int = field(Int32, "0+")
    replica_directory_id: Uuid = field(UUID, "17+", tag=0, tagged="17+", ignorable=True)
    high_watermark: int = field(Int64, "18+", tag=1, tagged="18+", default=9_223_372_036_854_775_807, ignorable=True)


class FetchTopic(Struct):
    topic: str = field(String, "0-12", ignorable=True, entity="topicName")
    topic_id: Uuid = field(UUID, "13+", ignorable=True)
    partitions: list[FetchPartition] = field(Array(FetchPartition), "0+")


class ForgottenTopic(Struct):
    topic: str = field(String, "7-12", ignorable=True, entity="topicName")
    topic_id: Uuid = field(UUID, "13+", ignorable=True)
    partitions: list[int] = field(Array(Int32), "7+")


class FetchRequest(Request, api_key=1, versions="4-18", flexible="12+", listeners="broker controller"):
    cluster_id: str | None = field(String, "12+", nullable="12+", tag=0, tagged="12+", default=None, ignorable=True)
    replica_id: int = field(Int32, "0-14", default=-1, entity="brokerId")
    replica_state: ReplicaState = field(ReplicaState, "15+", tag=1, tagged="15+")
    max_wait_ms: int = field(Int32, "0+")
    min_bytes: int = field(Int32, "0+")
    max_bytes: int = field(Int32, "3+", default=0x7FFFFFFF, ignorable=True)
    isolation_level: int = field(Int8, "4+", ignorable=True)
    session_id: int = field(Int32, "7+", ignorable=True)
    session_epoch: int = field(Int32, "7+", default=-1, ignorable=True)
    topics: list[FetchTopic] = field(Array(FetchTopic), "0+")
    forgotten_topics_data: list[ForgottenTopic] = field(Array(ForgottenTopic), "7+")
    rack_id: str = field(String, "11+", ignorable=True)


class EpochEndOffset(Struct):
    epoch: int = field(Int32, "12+", default=-1)
    end_offset: int = field(Int64, "12+", default=-1)


class LeaderIdAndEpoch(Struct):
    leader_id: int = field(Int32, "12+", default=-1, entity="brokerId")
    leader_epoch: int = field(Int32, "12+", default=-1)


class SnapshotId(Struct):
    end_offset: int = field(Int64, "0+", default=-1)
    epoch: int = field(Int32, "0+", default=-1)


class AbortedTransaction(Struct):
    producer_id: int = field(Int64, "4+", entity="producerId")
    first_offset: int = field(Int64, "4+")


class PartitionData(Struct):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    high_watermark: int = field(Int64, "0+")
    last_stable_offset: int = field(Int64, "4+", default=-1, ignorable=True)
    log_start_offset: int = field(Int64, "5+", default=-1, ignorable=True)
    diverging_epoch: EpochEndOffset = field(EpochEndOffset, "12+", tag=0, tagged="12+")
    current_leader: LeaderIdAndEpoch = field(LeaderIdAndEpoch, "12+", tag=1, tagged="12+")
    snapshot_id: SnapshotId = field(SnapshotId, "12+", tag=2, tagged="12+")
    aborted_transactions: list[AbortedTransaction] | None = field(
        Array(AbortedTransaction), "4+", nullable="4+", ignorable=True
    )
    preferred_read_replica: int = field(Int32, "11+", default=-1, entity="brokerId")
    records: memoryview | None = field(Records, "0+", nullable="0+", default=None)


class FetchableTopicResponse(Struct):
    topic: str = field(String, "0-12", ignorable=True, entity="topicName")
    topic_id: Uuid = field(UUID, "13+", ignorable=True)
    partitions: list[PartitionData] = field(Array(PartitionData), "0+")


class NodeEndpoint(Struct):
    node_id: int = field(Int32, "16+", entity="brokerId")
    host: str = field(String, "16+")
    port: int = field(Int32, "16+")
    rack: str | None = field(String, "16+", nullable="16+", default=None)


class FetchResponse(Response, api_key=1, versions="4-18", flexible="12+"):
    throttle_time_ms: int = field(Int32, "1+", ignorable=True)
    error_code: int = field(Int16, "7+", ignorable=True)
    session_id: int = field(Int32, "7+")
    responses: list[FetchableTopicResponse] = field(Array(FetchableTopicResponse), "0+")
    node_endpoints: list[NodeEndpoint] = field(Array(NodeEndpoint), "16+", tag=0, tagged="16+")
