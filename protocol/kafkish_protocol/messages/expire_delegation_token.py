"""ExpireDelegationToken (40): let a token end sooner."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Bytes, Int16, Int32, Int64


class ExpireDelegationTokenRequest(Request, api_key=40, versions="1-2", flexible="2+", listeners="broker controller"):
    hmac: bytes = field(Bytes, "0+")
    expiry_time_period_ms: int = field(Int64, "0+")


class ExpireDelegationTokenResponse(Response, api_key=40, versions="1-2", flexible="2+"):
    error_code: int = field(Int16, "0+")
    expiry_timestamp_ms: int = field(Int64, "0+")
    throttle_time_ms: int = field(Int32, "0+")
