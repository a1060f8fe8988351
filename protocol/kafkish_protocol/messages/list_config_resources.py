"""ListConfigResources (74): the resources that have settings."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int8, Int16, Int32, String


class ListConfigResourcesRequest(Request, api_key=74, versions="0-1", flexible="0+", listeners="broker"):
    resource_types: list[int] = field(Array(Int8), "1+")


class ConfigResource(Struct):
    resource_name: str = field(String, "0+")
    resource_type: int = field(Int8, "1+", default=16, ignorable=True)


class ListConfigResourcesResponse(Response, api_key=74, versions="0-1", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    config_resources: list[ConfigResource] = field(Array(ConfigResource), "0+")
