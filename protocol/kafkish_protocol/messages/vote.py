"""Vote (52): a candidate of the metadata quorum asks for a vote, or first for a pre-vote."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Bool, Int16, Int32, Int64, String, Uint16, Uuid


class VoteRequestPartitionData(Struct, name="PartitionData"):
    partition_index: int = field(Int32, "0+")
    replica_epoch: int = field(Int32, "0+")
    replica_id: int = field(Int32, "0+", entity="brokerId")
    replica_directory_id: Uuid = field(UUID, "1+", ignorable=True)
    voter_directory_id: Uuid = field(UUID, "1+", ignorable=True)
    last_offset_epoch: int = field(Int32, "0+")
    last_offset: int = field(Int64, "0+")
    pre_vote: bool = field(Bool, "2+")


class VoteRequestTopicData(Struct, name="TopicData"):
    topic_name: str = field(String, "0+", entity="topicName")
    partitions: list[VoteRequestPartitionData] = field(Array(VoteRequestPartitionData), "0+")


class VoteRequest(Request, api_key=52, versions="0-2", flexible="0+", listeners="controller"):
    cluster_id: str | None = field(String, "0+", nullable="0+", default=None)
    voter_id: int = field(Int32, "1+", default=-1, ignorable=True, entity="brokerId")
    topics: list[VoteRequestTopicData] = field(Array(VoteRequestTopicData), "0+")


class VoteResponsePartitionData(Struct, name="PartitionData"):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    leader_id: int = field(Int32, "0+", entity="brokerId")
    leader_epoch: int = field(Int32, "0+")
    vote_granted: bool = field(Bool, "0+")


class VoteResponseTopicData(Struct, name="TopicData"):
    topic_name: str = field(String, "0+", entity="topicName")
    partitions: list[VoteResponsePartitionData] = field(Array(VoteResponsePartitionData), "0+")


class NodeEndpoint(Struct):
    node_id: int = field(Int32, "1+", entity="brokerId")
    host: str = field(String, "1+")
    port: int = field(Uint16, "1+")


class VoteResponse(Response, api_key=52, versions="0-2", flexible="0+"):
    error_code: int = field(Int16, "0+")
    topics: list[VoteResponseTopicData] = field(Array(VoteResponseTopicData), "0+")
    node_endpoints: list[NodeEndpoint] = field(Array(NodeEndpoint), "1+", tag=0, tagged="1+")
