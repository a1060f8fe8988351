"""EndTxn (26): commit or abort a transaction."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Bool, Int16, Int32, Int64, String


class EndTxnRequest(Request, api_key=26, versions="0-5", flexible="3+", listeners="broker"):
    transactional_id: str = field(String, "0+", entity="transactionalId")
    producer_id: int = field(Int64, "0+", entity="producerId")
    producer_epoch: int = field(Int16, "0+")
    committed: bool = field(Bool, "0+")


class EndTxnResponse(Response, api_key=26, versions="0-5", flexible="3+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    producer_id: int = field(Int64, "5+", default=-1, ignorable=True, entity="producerId")
    producer_epoch: int = field(Int16, "5+", default=-1, ignorable=True)
