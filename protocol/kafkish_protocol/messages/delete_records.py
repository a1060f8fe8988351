"""DeleteRecords (21): move the start of partitions forward."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int16, Int32, Int64, String


class DeleteRecordsPartition(Struct):
    partition_index: int = field(Int32, "0+")
    offset: int = field(Int64, "0+")


class DeleteRecordsTopic(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[DeleteRecordsPartition] = field(Array(DeleteRecordsPartition), "0+")


class DeleteRecordsRequest(Request, api_key=21, versions="0-2", flexible="2+", listeners="broker"):
    topics: list[DeleteRecordsTopic] = field(Array(DeleteRecordsTopic), "0+")
    timeout_ms: int = field(Int32, "0+")


class DeleteRecordsPartitionResult(Struct):
    partition_index: int = field(Int32, "0+")
    low_watermark: int = field(Int64, "0+")
    error_code: int = field(Int16, "0+")


class DeleteRecordsTopicResult(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[DeleteRecordsPartitionResult] = field(Array(DeleteRecordsPartitionResult), "0+")


class DeleteRecordsResponse(Response, api_key=21, versions="0-2", flexible="2+"):
    throttle_time_ms: int = field(Int32, "0+")
    topics: list[DeleteRecordsTopicResult] = field(Array(DeleteRecordsTopicResult), "0+")
