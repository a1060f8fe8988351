"""RemoveRaftVoter (81): remove a voter from the metadata quorum."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import UUID, Int16, Int32, String, Uuid


class RemoveRaftVoterRequest(Request, api_key=81, versions="0", flexible="0+", listeners="broker controller"):
    cluster_id: str | None = field(String, "0+", nullable="0+")
    voter_id: int = field(Int32, "0+")
    voter_directory_id: Uuid = field(UUID, "0+")


class RemoveRaftVoterResponse(Response, api_key=81, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", ignorable=True)
