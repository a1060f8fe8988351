"""UnregisterBroker (64): forget a broker that is gone."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Int16, Int32, String


class UnregisterBrokerRequest(Request, api_key=64, versions="0", flexible="0+", listeners="broker controller"):
    broker_id: int = field(Int32, "0+", entity="brokerId")


class UnregisterBrokerResponse(Response, api_key=64, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")
