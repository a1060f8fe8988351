"""InitProducerId (22): get a producer id and epoch, for idempotence or for transactions."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Bool, Int16, Int32, Int64, String


class InitProducerIdRequest(
    Request, api_key=22, versions="0-6", flexible="2+", listeners="broker", latest_version_unstable=True
):
    transactional_id: str | None = field(String, "0+", nullable="0+", entity="transactionalId")
    transaction_timeout_ms: int = field(Int32, "0+")
    producer_id: int = field(Int64, "3+", default=-1, entity="producerId")
    producer_epoch: int = field(Int16, "3+", default=-1)
    enable2_pc: bool = field(Bool, "6+")
    keep_prepared_txn: bool = field(Bool, "6+")


class InitProducerIdResponse(Response, api_key=22, versions="0-6", flexible="2+"):
    throttle_time_ms: int = field(Int32, "0+", ignorable=True)
    error_code: int = field(Int16, "0+")
    producer_id: int = field(Int64, "0+", default=-1, entity="producerId")
    producer_epoch: int = field(Int16, "0+")
    ongoing_txn_producer_id: int = field(Int64, "6+", default=-1, entity="producerId")
    ongoing_txn_producer_epoch: int = field(Int16, "6+", default=-1)
