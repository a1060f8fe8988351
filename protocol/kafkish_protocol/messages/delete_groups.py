"""DeleteGroups (42): delete empty groups with their offsets."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int16, Int32, String


class DeleteGroupsRequest(Request, api_key=42, versions="0-2", flexible="2+", listeners="broker"):
    groups_names: list[str] = field(Array(String), "0+", entity="groupId")


class DeletableGroupResult(Struct):
    group_id: str = field(String, "0+", entity="groupId")
    error_code: int = field(Int16, "0+")


class DeleteGroupsResponse(Response, api_key=42, versions="0-2", flexible="2+"):
    throttle_time_ms: int = field(Int32, "0+")
    results: list[DeletableGroupResult] = field(Array(DeletableGroupResult), "0+")
