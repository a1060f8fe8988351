"""UpdateFeatures (57): raise or lower the cluster's finalized feature levels."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bool, Int8, Int16, Int32, String


class FeatureUpdateKey(Struct):
    feature: str = field(String, "0+")
    max_version_level: int = field(Int16, "0+")
    allow_downgrade: bool = field(Bool, "0")
    upgrade_type: int = field(Int8, "1+", default=1)


class UpdateFeaturesRequest(Request, api_key=57, versions="0-2", flexible="0+", listeners="broker controller"):
    timeout_ms: int = field(Int32, "0+", default=60_000)
    feature_updates: list[FeatureUpdateKey] = field(Array(FeatureUpdateKey), "0+")
    validate_only: bool = field(Bool, "1+")


class UpdatableFeatureResult(Struct):
    feature: str = field(String, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")


class UpdateFeaturesResponse(Response, api_key=57, versions="0-2", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")
    results: list[UpdatableFeatureResult] = field(Array(UpdatableFeatureResult), "0-1", ignorable=True)
