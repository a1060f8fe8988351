"""Messages as the JSON that Kafka's own `*JsonConverter` classes read."""

from base64 import b64encode
from typing import Any

from kafkish_protocol.schema import Schema, Struct
from kafkish_protocol.tests.kafka_schemas import camel
from kafkish_protocol.types import UUID, Array, Bytes, Nested, Records, Uuid, Wire
from kafkish_protocol.uuids import format_uuid


def to_json(struct: Struct, version: int) -> dict[str, Any]:
    """The fields that this version has."""
    schema: Schema = struct.schema
    return {
        camel(field.name)[0].lower() + camel(field.name)[1:]: _value(field.wire, getattr(struct, field.name), version)
        for field in schema.fields
        if version in field.versions
    }


def _value(wire: Wire[Any], value: Any, version: int) -> Any:
    if value is None:
        return None
    if isinstance(wire, Array):
        return [_value(wire.element, item, version) for item in value]
    if isinstance(wire, Nested):
        return to_json(value, version)
    if wire is UUID:
        return format_uuid(Uuid(value))
    if wire in (Bytes, Records):
        return b64encode(value).decode()
    return value
