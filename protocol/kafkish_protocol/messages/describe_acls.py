"""DescribeAcls (29): the access rules that match a filter."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int8, Int16, Int32, String


class DescribeAclsRequest(Request, api_key=29, versions="1-3", flexible="2+", listeners="broker controller"):
    resource_type_filter: int = field(Int8, "0+")
    resource_name_filter: str | None = field(String, "0+", nullable="0+")
    pattern_type_filter: int = field(Int8, "1+", default=3)
    principal_filter: str | None = field(String, "0+", nullable="0+")
    host_filter: str | None = field(String, "0+", nullable="0+")
    operation: int = field(Int8, "0+")
    permission_type: int = field(Int8, "0+")


class AclDescription(Struct):
    principal: str = field(String, "0+")
    host: str = field(String, "0+")
    operation: int = field(Int8, "0+")
    permission_type: int = field(Int8, "0+")


class DescribeAclsResource(Struct):
    resource_type: int = field(Int8, "0+")
    resource_name: str = field(String, "0+")
    pattern_type: int = field(Int8, "1+", default=3)
    acls: list[AclDescription] = field(Array(AclDescription), "0+")


class DescribeAclsResponse(Response, api_key=29, versions="1-3", flexible="2+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")
    resources: list[DescribeAclsResource] = field(Array(DescribeAclsResource), "0+")
