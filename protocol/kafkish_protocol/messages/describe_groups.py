"""DescribeGroups (15): state and members of classic groups."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bool, Bytes, Int16, Int32, String


class DescribeGroupsRequest(Request, api_key=15, versions="0-6", flexible="5+", listeners="broker"):
    groups: list[str] = field(Array(String), "0+", entity="groupId")
    include_authorized_operations: bool = field(Bool, "3+")


class DescribedGroupMember(Struct):
    member_id: str = field(String, "0+")
    group_instance_id: str | None = field(String, "4+", nullable="4+", default=None, ignorable=True)
    client_id: str = field(String, "0+")
    client_host: str = field(String, "0+")
    member_metadata: bytes = field(Bytes, "0+")
    member_assignment: bytes = field(Bytes, "0+")


class DescribedGroup(Struct):
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "6+", nullable="6+", default=None)
    group_id: str = field(String, "0+", entity="groupId")
    group_state: str = field(String, "0+")
    protocol_type: str = field(String, "0+")
    protocol_data: str = field(String, "0+")
    members: list[DescribedGroupMember] = field(Array(DescribedGroupMember), "0+")
    authorized_operations: int = field(Int32, "3+", default=-2_147_483_648)


class DescribeGroupsResponse(Response, api_key=15, versions="0-6", flexible="5+"):
    throttle_time_ms: int = field(Int32, "1+", ignorable=True)
    groups: list[DescribedGroup] = field(Array(DescribedGroup), "0+")
