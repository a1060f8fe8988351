"""ApiVersions (18): which APIs a node serves, in which versions, and the cluster's features."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bool, Int16, Int32, Int64, String


class ApiVersionsRequest(Request, api_key=18, versions="0-4", flexible="3+", listeners="broker controller"):
    client_software_name: str = field(String, "3+", ignorable=True)
    client_software_version: str = field(String, "3+", ignorable=True)


class ApiVersion(Struct):
    api_key: int = field(Int16, "0+")
    min_version: int = field(Int16, "0+")
    max_version: int = field(Int16, "0+")


class SupportedFeatureKey(Struct):
    name: str = field(String, "3+")
    min_version: int = field(Int16, "3+")
    max_version: int = field(Int16, "3+")


class FinalizedFeatureKey(Struct):
    name: str = field(String, "3+")
    max_version_level: int = field(Int16, "3+")
    min_version_level: int = field(Int16, "3+")


class ApiVersionsResponse(Response, api_key=18, versions="0-4", flexible="3+"):
    error_code: int = field(Int16, "0+")
    api_keys: list[ApiVersion] = field(Array(ApiVersion), "0+")
    throttle_time_ms: int = field(Int32, "1+", ignorable=True)
    supported_features: list[SupportedFeatureKey] = field(
        Array(SupportedFeatureKey), "3+", tag=0, tagged="3+", ignorable=True
    )
    finalized_features_epoch: int = field(Int64, "3+", tag=1, tagged="3+", default=-1, ignorable=True)
    finalized_features: list[FinalizedFeatureKey] = field(
        Array(FinalizedFeatureKey), "3+", tag=2, tagged="3+", ignorable=True
    )
    zk_migration_ready: bool = field(Bool, "3+", tag=3, tagged="3+", ignorable=True)
