"""JoinGroup (11): enter a group of the classic protocol, or ask for a new generation."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bool, Bytes, Int16, Int32, String


class JoinGroupRequestProtocol(Struct):
    name: str = field(String, "0+")
    metadata: bytes = field(Bytes, "0+")


class JoinGroupRequest(Request, api_key=11, versions="0-9", flexible="6+", listeners="broker"):
    group_id: str = field(String, "0+", entity="groupId")
    session_timeout_ms: int = field(Int32, "0+")
    rebalance_timeout_ms: int = field(Int32, "1+", default=-1, ignorable=True)
    member_id: str = field(String, "0+")
    group_instance_id: str | None = field(String, "5+", nullable="5+", default=None)
    protocol_type: str = field(String, "0+")
    protocols: list[JoinGroupRequestProtocol] = field(Array(JoinGroupRequestProtocol), "0+")
    reason: str | None = field(String, "8+", nullable="8+", default=None, ignorable=True)


class JoinGroupResponseMember(Struct):
    member_id: str = field(String, "0+")
    group_instance_id: str | None = field(String, "5+", nullable="5+", default=None, ignorable=True)
    metadata: bytes = field(Bytes, "0+")


class JoinGroupResponse(Response, api_key=11, versions="0-9", flexible="6+"):
    throttle_time_ms: int = field(Int32, "2+", ignorable=True)
    error_code: int = field(Int16, "0+")
    generation_id: int = field(Int32, "0+", default=-1)
    protocol_type: str | None = field(String, "7+", nullable="7+", default=None, ignorable=True)
    protocol_name: str | None = field(String, "0+", nullable="7+")
    leader: str = field(String, "0+")
    skip_assignment: bool = field(Bool, "9+")
    member_id: str = field(String, "0+")
    members: list[JoinGroupResponseMember] = field(Array(JoinGroupResponseMember), "0+")
