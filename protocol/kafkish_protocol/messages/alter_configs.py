"""AlterConfigs (33): replace all settings of a resource; IncrementalAlterConfigs is the better way."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bool, Int8, Int16, Int32, String


class AlterableConfig(Struct):
    name: str = field(String, "0+")
    value: str | None = field(String, "0+", nullable="0+")


class AlterConfigsResource(Struct):
    resource_type: int = field(Int8, "0+")
    resource_name: str = field(String, "0+")
    configs: list[AlterableConfig] = field(Array(AlterableConfig), "0+")


class AlterConfigsRequest(Request, api_key=33, versions="0-2", flexible="2+", listeners="broker controller"):
    resources: list[AlterConfigsResource] = field(Array(AlterConfigsResource), "0+")
    validate_only: bool = field(Bool, "0+")


class AlterConfigsResourceResponse(Struct):
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")
    resource_type: int = field(Int8, "0+")
    resource_name: str = field(String, "0+")


class AlterConfigsResponse(Response, api_key=33, versions="0-2", flexible="2+"):
    throttle_time_ms: int = field(Int32, "0+")
    responses: list[AlterConfigsResourceResponse] = field(Array(AlterConfigsResourceResponse), "0+")
