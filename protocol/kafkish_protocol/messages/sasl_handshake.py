"""SaslHandshake (17): choose a SASL mechanism."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Array, Int16, String


class SaslHandshakeRequest(Request, api_key=17, versions="0-1", flexible="none", listeners="broker controller"):
    mechanism: str = field(String, "0+")


class SaslHandshakeResponse(Response, api_key=17, versions="0-1", flexible="none"):
    error_code: int = field(Int16, "0+")
    mechanisms: list[str] = field(Array(String), "0+")
