"""DescribeQuorum (55): the metadata quorum's leader, voters and observers, with how far each is."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, Int64, String, Uint16, Uuid


class DescribeQuorumRequestPartitionData(Struct, name="PartitionData"):
    partition_index: int = field(Int32, "0+")


class DescribeQuorumRequestTopicData(Struct, name="TopicData"):
    topic_name: str = field(String, "0+", entity="topicName")
    partitions: list[DescribeQuorumRequestPartitionData] = field(Array(DescribeQuorumRequestPartitionData), "0+")


class DescribeQuorumRequest(Request, api_key=55, versions="0-2", flexible="0+", listeners="broker controller"):
    topics: list[DescribeQuorumRequestTopicData] = field(Array(DescribeQuorumRequestTopicData), "0+")


class ReplicaState(Struct):
    replica_id: int = field(Int32, "0+", entity="brokerId")
    replica_directory_id: Uuid = field(UUID, "2+")
    log_end_offset: int = field(Int64, "0+")
    last_fetch_timestamp: int = field(Int64, "1+", default=-1, ignorable=True)
    last_caught_up_timestamp: int = field(Int64, "1+", default=-1, ignorable=True)


class DescribeQuorumResponsePartitionData(Struct, name="PartitionData"):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "2+", nullable="2+", ignorable=True)
    leader_id: int = field(Int32, "0+", entity="brokerId")
    leader_epoch: int = field(Int32, "0+")
    high_watermark: int = field(Int64, "0+")
    current_voters: list[ReplicaState] = field(Array(ReplicaState), "0+")
    observers: list[ReplicaState] = field(Array(ReplicaState), "0+")


class DescribeQuorumResponseTopicData(Struct, name="TopicData"):
    topic_name: str = field(String, "0+", entity="topicName")
    partitions: list[DescribeQuorumResponsePartitionData] = field(Array(DescribeQuorumResponsePartitionData), "0+")


class Listener(Struct):
    name: str = field(String, "2+")
    host: str = field(String, "2+")
    port: int = field(Uint16, "2+")


class Node(Struct):
    node_id: int = field(Int32, "2+", entity="brokerId")
    listeners: list[Listener] = field(Array(Listener), "2+")


class DescribeQuorumResponse(Response, api_key=55, versions="0-2", flexible="0+"):
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "2+", nullable="2+", ignorable=True)
    topics: list[DescribeQuorumResponseTopicData] = field(Array(DescribeQuorumResponseTopicData), "0+")
    nodes: list[Node] = field(Array(Node), "2+")
