"""SyncGroup (14): hand out and receive the assignment of a classic group's generation."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bytes, Int16, Int32, String


class SyncGroupRequestAssignment(Struct):
    member_id: str = field(String, "0+")
    assignment: bytes = field(Bytes, "0+")


class SyncGroupRequest(Request, api_key=14, versions="0-5", flexible="4+", listeners="broker"):
    group_id: str = field(String, "0+", entity="groupId")
    generation_id: int = field(Int32, "0+")
    member_id: str = field(String, "0+")
    group_instance_id: str | None = field(String, "3+", nullable="3+", default=None)
    protocol_type: str | None = field(String, "5+", nullable="5+", default=None, ignorable=True)
    protocol_name: str | None = field(String, "5+", nullable="5+", default=None, ignorable=True)
    assignments: list[SyncGroupRequestAssignment] = field(Array(SyncGroupRequestAssignment), "0+")


class SyncGroupResponse(Response, api_key=14, versions="0-5", flexible="4+"):
    throttle_time_ms: int = field(Int32, "1+", ignorable=True)
    error_code: int = field(Int16, "0+")
    protocol_type: str | None = field(String, "5+", nullable="5+", default=None, ignorable=True)
    protocol_name: str | None = field(String, "5+", nullable="5+", default=None, ignorable=True)
    assignment: bytes = field(Bytes, "0+")
