"""Produce (0): append record batches to partitions."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, Int64, Records, String, Uuid


class PartitionProduceData(Struct):
    index: int = field(Int32, "0+")
    records: memoryview | None = field(Records, "0+", nullable="0+", default=None)


class TopicProduceData(Struct):
    name: str = field(String, "0-12", ignorable=True, entity="topicName")
    topic_id: Uuid = field(UUID, "13+", ignorable=True)
    partition_data: list[PartitionProduceData] = field(Array(PartitionProduceData), "0+")


class ProduceRequest(Request, api_key=0, versions="3-13", flexible="9+", listeners="broker"):
    transactional_id: str | None = field(String, "3+", nullable="3+", default=None, entity="transactionalId")
    acks: int = field(Int16, "0+")
    timeout_ms: int = field(Int32, "0+")
    topic_data: list[TopicProduceData] = field(Array(TopicProduceData), "0+")


class BatchIndexAndErrorMessage(Struct):
    batch_index: int = field(Int32, "8+")
    batch_index_error_message: str | None = field(String, "8+", nullable="8+", default=None)


class LeaderIdAndEpoch(Struct):
    leader_id: int = field(Int32, "10+", default=-1, entity="brokerId")
    leader_epoch: int = field(Int32, "10+", default=-1)


class PartitionProduceResponse(Struct):
    index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    base_offset: int = field(Int64, "0+")
    log_append_time_ms: int = field(Int64, "2+", default=-1, ignorable=True)
    log_start_offset: int = field(Int64, "5+", default=-1, ignorable=True)
    record_errors: list[BatchIndexAndErrorMessage] = field(Array(BatchIndexAndErrorMessage), "8+", ignorable=True)
    error_message: str | None = field(String, "8+", nullable="8+", default=None, ignorable=True)
    current_leader: LeaderIdAndEpoch = field(LeaderIdAndEpoch, "10+", tag=0, tagged="10+")


class TopicProduceResponse(Struct):
    name: str = field(String, "0-12", ignorable=True, entity="topicName")
    topic_id: Uuid = field(UUID, "13+", ignorable=True)
    partition_responses: list[PartitionProduceResponse] = field(Array(PartitionProduceResponse), "0+")


class NodeEndpoint(Struct):
    node_id: int = field(Int32, "10+", entity="brokerId")
    host: str = field(String, "10+")
    port: int = field(Int32, "10+")
    rack: str | None = field(String, "10+", nullable="10+", default=None)


class ProduceResponse(Response, api_key=0, versions="3-13", flexible="9+"):
    responses: list[TopicProduceResponse] = field(Array(TopicProduceResponse), "0+")
    throttle_time_ms: int = field(Int32, "1+", ignorable=True)
    node_endpoints: list[NodeEndpoint] = field(Array(NodeEndpoint), "10+", tag=0, tagged="10+")
