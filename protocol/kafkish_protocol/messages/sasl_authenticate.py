"""SaslAuthenticate (36): the bytes of a SASL exchange."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Bytes, Int16, Int64, String


class SaslAuthenticateRequest(Request, api_key=36, versions="0-2", flexible="2+", listeners="broker controller"):
    auth_bytes: bytes = field(Bytes, "0+")


class SaslAuthenticateResponse(Response, api_key=36, versions="0-2", flexible="2+"):
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")
    auth_bytes: bytes = field(Bytes, "0+")
    session_lifetime_ms: int = field(Int64, "1+", ignorable=True)
