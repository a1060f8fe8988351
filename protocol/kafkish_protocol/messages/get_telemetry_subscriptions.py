"""GetTelemetrySubscriptions (71): which metrics a client should push."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import UUID, Array, Bool, Int8, Int16, Int32, String, Uuid


class GetTelemetrySubscriptionsRequest(Request, api_key=71, versions="0", flexible="0+", listeners="broker"):
    client_instance_id: Uuid = field(UUID, "0+")


class GetTelemetrySubscriptionsResponse(Response, api_key=71, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    client_instance_id: Uuid = field(UUID, "0+")
    subscription_id: int = field(Int32, "0+")
    accepted_compression_types: list[int] = field(Array(Int8), "0+")
    push_interval_ms: int = field(Int32, "0+")
    telemetry_max_bytes: int = field(Int32, "0+")
    delta_temporality: bool = field(Bool, "0+")
    requested_metrics: list[str] = field(Array(String), "0+")
