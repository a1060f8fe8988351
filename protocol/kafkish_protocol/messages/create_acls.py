"""CreateAcls (30): add access rules."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int8, Int16, Int32, String


class AclCreation(Struct):
    resource_type: int = field(Int8, "0+")
    resource_name: str = field(String, "0+")
    resource_pattern_type: int = field(Int8, "1+", default=3)
    principal: str = field(String, "0+")
    host: str = field(String, "0+")
    operation: int = field(Int8, "0+")
    permission_type: int = field(Int8, "0+")


class CreateAclsRequest(Request, api_key=30, versions="1-3", flexible="2+", listeners="broker controller"):
    creations: list[AclCreation] = field(Array(AclCreation), "0+")


class AclCreationResult(Struct):
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")


class CreateAclsResponse(Response, api_key=30, versions="1-3", flexible="2+"):
    throttle_time_ms: int = field(Int32, "0+")
    results: list[AclCreationResult] = field(Array(AclCreationResult), "0+")
