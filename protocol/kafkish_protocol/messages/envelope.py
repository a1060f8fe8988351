"""Envelope (58): a broker forwards a client's request to the controller."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Bytes, Int16


class EnvelopeRequest(Request, api_key=58, versions="0", flexible="0+", listeners="controller"):
    request_data: bytes = field(Bytes, "0+")
    request_principal: bytes | None = field(Bytes, "0+", nullable="0+")
    client_host_address: bytes = field(Bytes, "0+")


class EnvelopeResponse(Response, api_key=58, versions="0", flexible="0+"):
    response_data: bytes | None = field(Bytes, "0+", nullable="0+", default=None)
    error_code: int = field(Int16, "0+")
