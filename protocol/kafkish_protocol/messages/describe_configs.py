"""DescribeConfigs (32): settings of topics, brokers, groups and client metrics, with where each value comes from."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bool, Int8, Int16, Int32, String


class DescribeConfigsResource(Struct):
    resource_type: int = field(Int8, "0+")
    resource_name: str = field(String, "0+")
    configuration_keys: list[str] | None = field(Array(String), "0+", nullable="0+")


class DescribeConfigsRequest(Request, api_key=32, versions="1-4", flexible="4+", listeners="broker controller"):
    resources: list[DescribeConfigsResource] = field(Array(DescribeConfigsResource), "0+")
    include_synonyms: bool = field(Bool, "1+")
    include_documentation: bool = field(Bool, "3+")


class DescribeConfigsSynonym(Struct):
    name: str = field(String, "1+")
    value: str | None = field(String, "1+", nullable="0+")
    source: int = field(Int8, "1+")


class DescribeConfigsResourceResult(Struct):
    name: str = field(String, "0+")
    value: str | None = field(String, "0+", nullable="0+")
    read_only: bool = field(Bool, "0+")
    config_source: int = field(Int8, "1+", default=-1, ignorable=True)
    is_sensitive: bool = field(Bool, "0+")
    synonyms: list[DescribeConfigsSynonym] = field(Array(DescribeConfigsSynonym), "1+", ignorable=True)
    config_type: int = field(Int8, "3+", ignorable=True)
    documentation: str | None = field(String, "3+", nullable="0+", ignorable=True)


class DescribeConfigsResult(Struct):
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")
    resource_type: int = field(Int8, "0+")
    resource_name: str = field(String, "0+")
    configs: list[DescribeConfigsResourceResult] = field(Array(DescribeConfigsResourceResult), "0+")


class DescribeConfigsResponse(Response, api_key=32, versions="1-4", flexible="4+"):
    throttle_time_ms: int = field(Int32, "0+")
    results: list[DescribeConfigsResult] = field(Array(DescribeConfigsResult), "0+")
