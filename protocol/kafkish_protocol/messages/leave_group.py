"""LeaveGroup (13): leave a classic group, or remove its static members."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int16, Int32, String


class MemberIdentity(Struct):
    member_id: str = field(String, "3+")
    group_instance_id: str | None = field(String, "3+", nullable="3+", default=None)
    reason: str | None = field(String, "5+", nullable="5+", default=None, ignorable=True)


class LeaveGroupRequest(Request, api_key=13, versions="0-5", flexible="4+", listeners="broker"):
    group_id: str = field(String, "0+", entity="groupId")
    member_id: str = field(String, "0-2")
    members: list[MemberIdentity] = field(Array(MemberIdentity), "3+")


class MemberResponse(Struct):
    member_id: str = field(String, "3+")
    group_instance_id: str | None = field(String, "3+", nullable="3+")
    error_code: int = field(Int16, "3+")


class LeaveGroupResponse(Response, api_key=13, versions="0-5", flexible="4+"):
    throttle_time_ms: int = field(Int32, "1+", ignorable=True)
    error_code: int = field(Int16, "0+")
    members: list[MemberResponse] = field(Array(MemberResponse), "3+")
