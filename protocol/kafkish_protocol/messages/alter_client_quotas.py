"""AlterClientQuotas (49): set or remove quotas."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bool, Float64, Int16, Int32, String


class EntityData(Struct):
    entity_type: str = field(String, "0+")
    entity_name: str | None = field(String, "0+", nullable="0+")


class OpData(Struct):
    key: str = field(String, "0+")
    value: float = field(Float64, "0+")
    remove: bool = field(Bool, "0+")


class AlterClientQuotasRequestEntryData(Struct, name="EntryData"):
    entity: list[EntityData] = field(Array(EntityData), "0+")
    ops: list[OpData] = field(Array(OpData), "0+")


class AlterClientQuotasRequest(Request, api_key=49, versions="0-1", flexible="1+", listeners="broker controller"):
    entries: list[AlterClientQuotasRequestEntryData] = field(Array(AlterClientQuotasRequestEntryData), "0+")
    validate_only: bool = field(Bool, "0+")


class AlterClientQuotasResponseEntryData(Struct, name="EntryData"):
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+")
    entity: list[EntityData] = field(Array(EntityData), "0+")


class AlterClientQuotasResponse(Response, api_key=49, versions="0-1", flexible="1+"):
    throttle_time_ms: int = field(Int32, "0+")
    entries: list[AlterClientQuotasResponseEntryData] = field(Array(AlterClientQuotasResponseEntryData), "0+")
