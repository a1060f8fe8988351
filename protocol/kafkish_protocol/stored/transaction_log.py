"""Transactions, in `__transaction_state`."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import CoordinatorKey, CoordinatorValue, Struct
from kafkish_protocol.types import Array, Int8, Int16, Int32, Int64, String


class TransactionLogKey(CoordinatorKey, api_key=0, versions="0", flexible="none"):
    transactional_id: str = field(String, "0")


class PartitionsSchema(Struct):
    topic: str = field(String, "0+")
    partition_ids: list[int] = field(Array(Int32), "0+")


class TransactionLogValue(CoordinatorValue, api_key=0, versions="0-1", flexible="1+"):
    producer_id: int = field(Int64, "0+")
    previous_producer_id: int = field(Int64, "1+", tag=0, tagged="1+", default=-1)
    next_producer_id: int = field(Int64, "1+", tag=1, tagged="1+", default=-1)
    producer_epoch: int = field(Int16, "0+")
    next_producer_epoch: int = field(Int16, "1+", tag=3, tagged="1+", default=-1)
    transaction_timeout_ms: int = field(Int32, "0+")
    transaction_status: int = field(Int8, "0+")
    transaction_partitions: list[PartitionsSchema] | None = field(Array(PartitionsSchema), "0+", nullable="0+")
    transaction_last_update_timestamp_ms: int = field(Int64, "0+")
    transaction_start_timestamp_ms: int = field(Int64, "0+")
    client_transaction_version: int = field(Int16, "1+", tag=2, tagged="1+")
