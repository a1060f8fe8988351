"""DeleteAcls (31): remove the access rules that match filters."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int8, Int16, Int32, String


class DeleteAclsFilter(Struct):
    resource_type_filter: int = field(Int8, "0+")
    resource_name_filter: str | None = field(String, "0+", nullable="0+")
    pattern_type_filter: int = field(Int8, "1+", default=3)
    principal_filter: str | None = field(String, "0+", nullable="0+")
    host_filter: str | None = field(String, "0+", nullable="0+")
    operation: int = field(Int8, "0+")
    permission_type: int = field(Int8, "0+")


class DeleteAclsRequest(Request, api_key=31, versions="1-3", flexible="2+", listeners="broker controller"):
    filters: list[DeleteAclsFilter] = field(Array(DeleteAclsFilter), "0+")


class DeleteAclsMatchingAcl(Struct):
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")
    resource_type: int = field(Int8, "0+")
    resource_name: str = field(String, "0+")
    pattern_type: int = field(Int8, "1+", default=3)
    principal: str = field(String, "0+")
    host: str = field(String, "0+")
    operation: int = field(Int8, "0+")
    permission_type: int = field(Int8, "0+")


class DeleteAclsFilterResult(Struct):
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")
    matching_acls: list[DeleteAclsMatchingAcl] = field(Array(DeleteAclsMatchingAcl), "0+")


class DeleteAclsResponse(Response, api_key=31, versions="1-3", flexible="2+"):
    throttle_time_ms: int = field(Int32, "0+")
    filter_results: list[DeleteAclsFilterResult] = field(Array(DeleteAclsFilterResult), "0+")
