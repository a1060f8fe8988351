"""AddPartitionsToTxn (24): make partitions part of a transaction."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bool, Int16, Int32, Int64, String


class AddPartitionsToTxnTopic(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[int] = field(Array(Int32), "0+")


class AddPartitionsToTxnTransaction(Struct):
    transactional_id: str = field(String, "4+", entity="transactionalId")
    producer_id: int = field(Int64, "4+", entity="producerId")
    producer_epoch: int = field(Int16, "4+")
    verify_only: bool = field(Bool, "4+")
    topics: list[AddPartitionsToTxnTopic] = field(Array(AddPartitionsToTxnTopic), "4+")


class AddPartitionsToTxnRequest(Request, api_key=24, versions="0-5", flexible="3+", listeners="broker"):
    transactions: list[AddPartitionsToTxnTransaction] = field(Array(AddPartitionsToTxnTransaction), "4+")
    v3_and_below_transactional_id: str = field(String, "0-3", entity="transactionalId")
    v3_and_below_producer_id: int = field(Int64, "0-3", entity="producerId")
    v3_and_below_producer_epoch: int = field(Int16, "0-3")
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = field(Array(AddPartitionsToTxnTopic), "0-3")


class AddPartitionsToTxnPartitionResult(Struct):
    partition_index: int = field(Int32, "0+")
    partition_error_code: int = field(Int16, "0+")


class AddPartitionsToTxnTopicResult(Struct):
    name: str = field(String, "0+", entity="topicName")
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = field(
        Array(AddPartitionsToTxnPartitionResult), "0+"
    )


class AddPartitionsToTxnResult(Struct):
    transactional_id: str = field(String, "4+", entity="transactionalId")
    topic_results: list[AddPartitionsToTxnTopicResult] = field(Array(AddPartitionsToTxnTopicResult), "4+")


class AddPartitionsToTxnResponse(Response, api_key=24, versions="0-5", flexible="3+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "4+", ignorable=True)
    results_by_transaction: list[AddPartitionsToTxnResult] = field(Array(AddPartitionsToTxnResult), "4+")
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = field(
        Array(AddPartitionsToTxnTopicResult), "0-3"
    )
