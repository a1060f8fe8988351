"""ControllerRegistration (70): a controller makes its listeners and features known."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Bool, Int16, Int32, String, Uint16, Uuid


class Listener(Struct):
    name: str = field(String, "0+")
    host: str = field(String, "0+")
    port: int = field(Uint16, "0+")
    security_protocol: int = field(Int16, "0+")


class Feature(Struct):
    name: str = field(String, "0+")
    min_supported_version: int = field(Int16, "0+")
    max_supported_version: int = field(Int16, "0+")


class ControllerRegistrationRequest(Request, api_key=70, versions="0", flexible="0+", listeners="controller"):
    controller_id: int = field(Int32, "0+")
    incarnation_id: Uuid = field(UUID, "0+")
    zk_migration_ready: bool = field(Bool, "0+")
    listeners: list[Listener] = field(Array(Listener), "0+")
    features: list[Feature] = field(Array(Feature), "0+")


class ControllerRegistrationResponse(Response, api_key=70, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")
