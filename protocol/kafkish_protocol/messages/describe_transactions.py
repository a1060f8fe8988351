"""DescribeTransactions (65): state of transactions by transactional id."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int16, Int32, Int64, String


class DescribeTransactionsRequest(Request, api_key=65, versions="0", flexible="0+", listeners="broker"):
    transactional_ids: list[str] = field(Array(String), "0+", entity="transactionalId")


class TopicData(Struct):
    topic: str = field(String, "0+", entity="topicName")
    partitions: list[int] = field(Array(Int32), "0+")


class TransactionState(Struct):
    error_code: int = field(Int16, "0+")
    transactional_id: str = field(String, "0+", entity="transactionalId")
    transaction_state: str = field(String, "0+")
    transaction_timeout_ms: int = field(Int32, "0+")
    transaction_start_time_ms: int = field(Int64, "0+")
    producer_id: int = field(Int64, "0+", entity="producerId")
    producer_epoch: int = field(Int16, "0+")
    topics: list[TopicData] = field(Array(TopicData), "0+")


class DescribeTransactionsResponse(Response, api_key=65, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    transaction_states: list[TransactionState] = field(Array(TransactionState), "0+")
