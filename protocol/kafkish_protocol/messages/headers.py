"""What stands before every request and every response."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Header
from kafkish_protocol.types import Int16, Int32, String


class RequestHeader(Header, versions="1-2", flexible="2+"):
    request_api_key: int = field(Int16, "0+")
    request_api_version: int = field(Int16, "0+")
    correlation_id: int = field(Int32, "0+")
    client_id: str | None = field(String, "1+", nullable="1+", flexible="none")


class ResponseHeader(Header, versions="0-1", flexible="1+"):
    correlation_id: int = field(Int32, "0+")
