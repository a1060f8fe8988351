"""FindCoordinator (10): which broker coordinates a group, a transactional id or a share partition."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int8, Int16, Int32, String


class FindCoordinatorRequest(Request, api_key=10, versions="0-6", flexible="3+", listeners="broker"):
    key: str = field(String, "0-3")
    key_type: int = field(Int8, "1+")
    coordinator_keys: list[str] = field(Array(String), "4+")


class Coordinator(Struct):
    key: str = field(String, "4+")
    node_id: int = field(Int32, "4+", entity="brokerId")
    host: str = field(String, "4+")
    port: int = field(Int32, "4+")
    error_code: int = field(Int16, "4+")
    error_message: str | None = field(String, "4+", nullable="4+", ignorable=True)


class FindCoordinatorResponse(Response, api_key=10, versions="0-6", flexible="3+"):
    throttle_time_ms: int = field(Int32, "1+", ignorable=True)
    error_code: int = field(Int16, "0-3")
    error_message: str | None = field(String, "1-3", nullable="1-3", ignorable=True)
    node_id: int = field(Int32, "0-3", entity="brokerId")
    host: str = field(String, "0-3")
    port: int = field(Int32, "0-3")
    coordinators: list[Coordinator] = field(Array(Coordinator), "4+")
