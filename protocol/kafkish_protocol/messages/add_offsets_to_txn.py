"""AddOffsetsToTxn (25): make a group's offsets part of a transaction."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Int16, Int32, Int64, String


class AddOffsetsToTxnRequest(Request, api_key=25, versions="0-4", flexible="3+", listeners="broker"):
    transactional_id: str = field(String, "0+", entity="transactionalId")
    producer_id: int = field(Int64, "0+", entity="producerId")
    producer_epoch: int = field(Int16, "0+")
    group_id: str = field(String, "0+", entity="groupId")


class AddOffsetsToTxnResponse(Response, api_key=25, versions="0-4", flexible="3+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
