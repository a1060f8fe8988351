"""DescribeProducers (61): the producers that have written to partitions, with their open transactions."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int16, Int32, Int64, String


class TopicRequest(Struct):
    name: str = field(String, "0+", entity="topicName")
    partition_indexes: list[int] = field(Array(Int32), "0+")


class DescribeProducersRequest(Request, api_key=61, versions="0", flexible="0+", listeners="broker"):
    topics: list[TopicRequest] = field(Array(TopicRequest), "0+")


class ProducerState(Struct):
    producer_id: int = field(Int64, "0+", entity="producerId")
    producer_epoch: int = field(Int32, "0+")
    last_sequence: int = field(Int32, "0+", default=-1)
    last_timestamp: int = field(Int64, "0+", default=-1)
    coordinator_epoch: int = field(Int32, "0+")
    current_txn_start_offset: int = field(Int64, "0+", default=-1)


class PartitionResponse(Struct):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)
    active_producers: list[ProducerState] = field(Array(ProducerState), "0+")


class TopicResponse(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[PartitionResponse] = field(Array(PartitionResponse), "0+")


class DescribeProducersResponse(Response, api_key=61, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    topics: list[TopicResponse] = field(Array(TopicResponse), "0+")
