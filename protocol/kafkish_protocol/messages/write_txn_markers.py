"""WriteTxnMarkers (27): the coordinator tells partition leaders how a transaction ended."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bool, Int8, Int16, Int32, Int64, String


class WritableTxnMarkerTopic(Struct):
    name: str = field(String, "0+", entity="topicName")
    partition_indexes: list[int] = field(Array(Int32), "0+")


class WritableTxnMarker(Struct):
    producer_id: int = field(Int64, "0+", entity="producerId")
    producer_epoch: int = field(Int16, "0+")
    transaction_result: bool = field(Bool, "0+")
    topics: list[WritableTxnMarkerTopic] = field(Array(WritableTxnMarkerTopic), "0+")
    coordinator_epoch: int = field(Int32, "0+")
    transaction_version: int = field(Int8, "2+", ignorable=True)


class WriteTxnMarkersRequest(Request, api_key=27, versions="1-2", flexible="1+", listeners="broker"):
    markers: list[WritableTxnMarker] = field(Array(WritableTxnMarker), "0+")


class WritableTxnMarkerPartitionResult(Struct):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")


class WritableTxnMarkerTopicResult(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[WritableTxnMarkerPartitionResult] = field(Array(WritableTxnMarkerPartitionResult), "0+")


class WritableTxnMarkerResult(Struct):
    producer_id: int = field(Int64, "0+", entity="producerId")
    topics: list[WritableTxnMarkerTopicResult] = field(Array(WritableTxnMarkerTopicResult), "0+")


class WriteTxnMarkersResponse(Response, api_key=27, versions="1-2", flexible="1+"):
    markers: list[WritableTxnMarkerResult] = field(Array(WritableTxnMarkerResult), "0+")
