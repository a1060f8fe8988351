"""RenewDelegationToken (39): let a token live longer."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Bytes, Int16, Int32, Int64


class RenewDelegationTokenRequest(Request, api_key=39, versions="1-2", flexible="2+", listeners="broker controller"):
    hmac: bytes = field(Bytes, "0+")
    renew_period_ms: int = field(Int64, "0+")


class RenewDelegationTokenResponse(Response, api_key=39, versions="1-2", flexible="2+"):
    error_code: int = field(Int16, "0+")
    expiry_timestamp_ms: int = field(Int64, "0+")
    throttle_time_ms: int = field(Int32, "0+")
