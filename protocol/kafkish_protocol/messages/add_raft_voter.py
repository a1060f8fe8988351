"""AddRaftVoter (80): add a voter to the metadata quorum."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Bool, Int16, Int32, String, Uint16, Uuid


class Listener(Struct):
    name: str = field(String, "0+")
    host: str = field(String, "0+")
    port: int = field(Uint16, "0+")


class AddRaftVoterRequest(Request, api_key=80, versions="0-1", flexible="0+", listeners="broker controller"):
    cluster_id: str | None = field(String, "0+", nullable="0+")
    timeout_ms: int = field(Int32, "0+")
    voter_id: int = field(Int32, "0+")
    voter_directory_id: Uuid = field(UUID, "0+")
    listeners: list[Listener] = field(Array(Listener), "0+")
    ack_when_committed: bool = field(Bool, "1+", default=True)


class AddRaftVoterResponse(Response, api_key=80, versions="0-1", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", ignorable=True)
