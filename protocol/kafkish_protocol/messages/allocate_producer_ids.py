"""AllocateProducerIds (67): a broker takes a block of producer ids from the controller."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Int16, Int32, Int64


class AllocateProducerIdsRequest(Request, api_key=67, versions="0", flexible="0+", listeners="controller"):
    broker_id: int = field(Int32, "0+", entity="brokerId")
    broker_epoch: int = field(Int64, "0+", default=-1)


class AllocateProducerIdsResponse(Response, api_key=67, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    producer_id_start: int = field(Int64, "0+", entity="producerId")
    producer_id_len: int = field(Int32, "0+")
