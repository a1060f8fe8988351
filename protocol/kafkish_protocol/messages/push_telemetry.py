"""PushTelemetry (72): metrics of a client."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import UUID, Bool, Bytes, Int8, Int16, Int32, Uuid


class PushTelemetryRequest(Request, api_key=72, versions="0", flexible="0+", listeners="broker"):
    client_instance_id: Uuid = field(UUID, "0+")
    subscription_id: int = field(Int32, "0+")
    terminating: bool = field(Bool, "0+")
    compression_type: int = field(Int8, "0+")
    metrics: bytes = field(Bytes, "0+")


class PushTelemetryResponse(Response, api_key=72, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
