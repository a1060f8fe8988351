"""ListTransactions (66): the transactions that a broker coordinates."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int16, Int32, Int64, String


class ListTransactionsRequest(Request, api_key=66, versions="0-2", flexible="0+", listeners="broker"):
    state_filters: list[str] = field(Array(String), "0+")
    producer_id_filters: list[int] = field(Array(Int64), "0+", entity="producerId")
    duration_filter: int = field(Int64, "1+", default=-1)
    transactional_id_pattern: str | None = field(String, "2+", nullable="2+", default=None)


class TransactionState(Struct):
    transactional_id: str = field(String, "0+", entity="transactionalId")
    producer_id: int = field(Int64, "0+", entity="producerId")
    transaction_state: str = field(String, "0+")


class ListTransactionsResponse(Response, api_key=66, versions="0-2", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    unknown_state_filters: list[str] = field(Array(String), "0+")
    transaction_states: list[TransactionState] = field(Array(TransactionState), "0+")
