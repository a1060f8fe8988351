"""Heartbeat (12): tell the coordinator of a classic group that a member is alive."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Int16, Int32, String


class HeartbeatRequest(Request, api_key=12, versions="0-4", flexible="4+", listeners="broker"):
    group_id: str = field(String, "0+", entity="groupId")
    generation_id: int = field(Int32, "0+")
    member_id: str = field(String, "0+")
    group_instance_id: str | None = field(String, "3+", nullable="3+", default=None)


class HeartbeatResponse(Response, api_key=12, versions="0-4", flexible="4+"):
    throttle_time_ms: int = field(Int32, "1+", ignorable=True)
    error_code: int = field(Int16, "0+")
