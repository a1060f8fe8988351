"""ListGroups (16): the groups that a broker coordinates."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int16, Int32, String


class ListGroupsRequest(Request, api_key=16, versions="0-5", flexible="3+", listeners="broker"):
    states_filter: list[str] = field(Array(String), "4+")
    types_filter: list[str] = field(Array(String), "5+")


class ListedGroup(Struct):
    group_id: str = field(String, "0+", entity="groupId")
    protocol_type: str = field(String, "0+")
    group_state: str = field(String, "4+", ignorable=True)
    group_type: str = field(String, "5+", ignorable=True)


class ListGroupsResponse(Response, api_key=16, versions="0-5", flexible="3+"):
    throttle_time_ms: int = field(Int32, "1+", ignorable=True)
    error_code: int = field(Int16, "0+")
    groups: list[ListedGroup] = field(Array(ListedGroup), "0+")
