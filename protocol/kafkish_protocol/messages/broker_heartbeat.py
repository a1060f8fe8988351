"""BrokerHeartbeat (63): a broker is alive, asks to be unfenced, or to shut down."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import UUID, Array, Bool, Int16, Int32, Int64, Uuid


class BrokerHeartbeatRequest(Request, api_key=63, versions="0-2", flexible="0+", listeners="controller"):
    broker_id: int = field(Int32, "0+", entity="brokerId")
    broker_epoch: int = field(Int64, "0+", default=-1)
    current_metadata_offset: int = field(Int64, "0+")
    want_fence: bool = field(Bool, "0+")
    want_shut_down: bool = field(Bool, "0+")
    offline_log_dirs: list[Uuid] = field(Array(UUID), "1+", tag=0, tagged="1+")
    cordoned_log_dirs: list[Uuid] | None = field(Array(UUID), "2+", nullable="2+", tag=1, tagged="2+", default=None)


class BrokerHeartbeatResponse(Response, api_key=63, versions="0-2", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    is_caught_up: bool = field(Bool, "0+")
    is_fenced: bool = field(Bool, "0+", default=True)
    should_shut_down: bool = field(Bool, "0+")
