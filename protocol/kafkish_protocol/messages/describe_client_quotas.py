"""DescribeClientQuotas (48): the quotas that match a filter."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bool, Float64, Int8, Int16, Int32, String


class ComponentData(Struct):
    entity_type: str = field(String, "0+")
    match_type: int = field(Int8, "0+")
    match: str | None = field(String, "0+", nullable="0+")


class DescribeClientQuotasRequest(Request, api_key=48, versions="0-1", flexible="1+", listeners="broker"):
    components: list[ComponentData] = field(Array(ComponentData), "0+")
    strict: bool = field(Bool, "0+")


class EntityData(Struct):
    entity_type: str = field(String, "0+")
    entity_name: str | None = field(String, "0+", nullable="0+")


class ValueData(Struct):
    key: str = field(String, "0+")
    value: float = field(Float64, "0+")


class EntryData(Struct):
    entity: list[EntityData] = field(Array(EntityData), "0+")
    values: list[ValueData] = field(Array(ValueData), "0+")


class DescribeClientQuotasResponse(Response, api_key=48, versions="0-1", flexible="1+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")
    entries: list[EntryData] | None = field(Array(EntryData), "0+", nullable="0+")
