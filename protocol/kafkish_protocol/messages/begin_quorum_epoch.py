"""BeginQuorumEpoch (53): a new leader of the metadata quorum makes itself known."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, String, Uint16, Uuid


class BeginQuorumEpochRequestPartitionData(Struct, name="PartitionData"):
    partition_index: int = field(Int32, "0+")
    voter_directory_id: Uuid = field(UUID, "1+", ignorable=True)
    leader_id: int = field(Int32, "0+", entity="brokerId")
    leader_epoch: int = field(Int32, "0+")


class BeginQuorumEpochRequestTopicData(Struct, name="TopicData"):
    topic_name: str = field(String, "0+", entity="topicName")
    partitions: list[BeginQuorumEpochRequestPartitionData] = field(Array(BeginQuorumEpochRequestPartitionData), "0+")


class LeaderEndpoint(Struct):
    name: str = field(String, "1+")
    host: str = field(String, "1+")
    port: int = field(Uint16, "1+")


class BeginQuorumEpochRequest(Request, api_key=53, versions="0-1", flexible="1+", listeners="controller"):
    cluster_id: str | None = field(String, "0+", nullable="0+", default=None)
    voter_id: int = field(Int32, "1+", default=-1, ignorable=True, entity="brokerId")
    topics: list[BeginQuorumEpochRequestTopicData] = field(Array(BeginQuorumEpochRequestTopicData), "0+")
    leader_endpoints: list[LeaderEndpoint] = field(Array(LeaderEndpoint), "1+", ignorable=True)


class BeginQuorumEpochResponsePartitionData(Struct, name="PartitionData"):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    leader_id: int = field(Int32, "0+", entity="brokerId")
    leader_epoch: int = field(Int32, "0+")


class BeginQuorumEpochResponseTopicData(Struct, name="TopicData"):
    topic_name: str = field(String, "0+", entity="topicName")
    partitions: list[BeginQuorumEpochResponsePartitionData] = field(Array(BeginQuorumEpochResponsePartitionData), "0+")


class NodeEndpoint(Struct):
    node_id: int = field(Int32, "1+", entity="brokerId")
    host: str = field(String, "1+")
    port: int = field(Uint16, "1+")


class BeginQuorumEpochResponse(Response, api_key=53, versions="0-1", flexible="1+"):
    error_code: int = field(Int16, "0+")
    topics: list[BeginQuorumEpochResponseTopicData] = field(Array(BeginQuorumEpochResponseTopicData), "0+")
    node_endpoints: list[NodeEndpoint] = field(Array(NodeEndpoint), "1+", tag=0, tagged="1+")
