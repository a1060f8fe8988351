"""ElectLeaders (43): make partitions choose a leader now."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int8, Int16, Int32, String


class TopicPartitions(Struct):
    topic: str = field(String, "0+", entity="topicName")
    partitions: list[int] = field(Array(Int32), "0+")


class ElectLeadersRequest(Request, api_key=43, versions="0-2", flexible="2+", listeners="broker controller"):
    election_type: int = field(Int8, "1+")
    topic_partitions: list[TopicPartitions] | None = field(Array(TopicPartitions), "0+", nullable="0+")
    timeout_ms: int = field(Int32, "0+", default=60_000)


class PartitionResult(Struct):
    partition_id: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")


class ReplicaElectionResult(Struct):
    topic: str = field(String, "0+", entity="topicName")
    partition_result: list[PartitionResult] = field(Array(PartitionResult), "0+")


class ElectLeadersResponse(Response, api_key=43, versions="0-2", flexible="2+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "1+")
    replica_election_results: list[ReplicaElectionResult] = field(Array(ReplicaElectionResult), "0+")
