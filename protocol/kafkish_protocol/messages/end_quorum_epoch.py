"""EndQuorumEpoch (54): a leader of the metadata quorum resigns."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, String, Uint16, Uuid


class ReplicaInfo(Struct):
    candidate_id: int = field(Int32, "1+", entity="brokerId")
    candidate_directory_id: Uuid = field(UUID, "1+")


class EndQuorumEpochRequestPartitionData(Struct, name="PartitionData"):
    partition_index: int = field(Int32, "0+")
    leader_id: int = field(Int32, "0+", entity="brokerId")
    leader_epoch: int = field(Int32, "0+")
    preferred_successors: list[int] = field(Array(Int32), "0", ignorable=True)
    preferred_candidates: list[ReplicaInfo] = field(Array(ReplicaInfo), "1+", ignorable=True)


class EndQuorumEpochRequestTopicData(Struct, name="TopicData"):
    topic_name: str = field(String, "0+", entity="topicName")
    partitions: list[EndQuorumEpochRequestPartitionData] = field(Array(EndQuorumEpochRequestPartitionData), "0+")


class LeaderEndpoint(Struct):
    name: str = field(String, "1+")
    host: str = field(String, "1+")
    port: int = field(Uint16, "1+")


class EndQuorumEpochRequest(Request, api_key=54, versions="0-1", flexible="1+", listeners="controller"):
    cluster_id: str | None = field(String, "0+", nullable="0+", default=None)
    topics: list[EndQuorumEpochRequestTopicData] = field(Array(EndQuorumEpochRequestTopicData), "0+")
    leader_endpoints: list[LeaderEndpoint] = field(Array(LeaderEndpoint), "1+", ignorable=True)


class EndQuorumEpochResponsePartitionData(Struct, name="PartitionData"):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    leader_id: int = field(Int32, "0+", entity="brokerId")
    leader_epoch: int = field(Int32, "0+")


class EndQuorumEpochResponseTopicData(Struct, name="TopicData"):
    topic_name: str = field(String, "0+", entity="topicName")
    partitions: list[EndQuorumEpochResponsePartitionData] = field(Array(EndQuorumEpochResponsePartitionData), "0+")


class NodeEndpoint(Struct):
    node_id: int = field(Int32, "1+", entity="brokerId")
    host: str = field(String, "1+")
    port: int = field(Uint16, "1+")


class EndQuorumEpochResponse(Response, api_key=54, versions="0-1", flexible="1+"):
    error_code: int = field(Int16, "0+")
    topics: list[EndQuorumEpochResponseTopicData] = field(Array(EndQuorumEpochResponseTopicData), "0+")
    node_endpoints: list[NodeEndpoint] = field(Array(NodeEndpoint), "1+", tag=0, tagged="1+")
