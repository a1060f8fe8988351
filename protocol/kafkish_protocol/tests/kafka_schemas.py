"""Kafka's own message schemas, read out of its jars, and ours in the same form, to be compared.

Both sides become a plain dict: what the message is, and for each field path what the field is.
"""

import json
import re
from functools import cache
from typing import Any
from zipfile import ZipFile

import apache_kafka

from kafkish_protocol.fields import Field
from kafkish_protocol.schema import Message, Schema
from kafkish_protocol.types import Array, Fixed, Nested, Records, Sized, Wire
from kafkish_protocol.versions import parse_versions

_JARS = (
    "kafka-clients",
    "kafka-group-coordinator",
    "kafka-metadata",
    "kafka-raft",
    "kafka-share-coordinator",
    "kafka-storage",
    "kafka-transaction-coordinator",
)
_KINDS = {
    "Request": "request",
    "Response": "response",
    "Header": "header",
    "MetadataRecord": "metadata",
    "CoordinatorKey": "coordinator-key",
    "CoordinatorValue": "coordinator-value",
    "Data": "data",
}


@cache
def kafka_schemas() -> dict[str, Any]:
    """Kafka's schemas by name, without those that it keeps only to remember a removed API."""
    found = {}
    for jar in _JARS:
        with ZipFile(apache_kafka.jar(jar)) as archive:
            for name in archive.namelist():
                if re.fullmatch(r"(common/)?(message|metadata)/\w+\.json", name):
                    schema = json.loads(re.sub(r"//.*", "", archive.read(name).decode()))
                    if schema["validVersions"] != "none":
                        found[schema["name"]] = schema
    return found


# -- Kafka's side


def describe_kafka(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of Kafka's in the common form."""
    shared = {struct["name"]: struct["fields"] for struct in schema.get("commonStructs", ())}
    described = {
        "": {
            "kind": schema["type"],
            "key": schema.get("apiKey"),
            "versions": _range(schema["validVersions"]),
            "flexible": _range(schema["flexibleVersions"]),
            "listeners": sorted(schema.get("listeners", ())),
            "latest version unstable": schema.get("latestVersionUnstable", False),
        }
    }
    _describe_kafka_fields(schema["fields"], shared, "", described)
    return described


def _describe_kafka_fields(fields: list[Any], shared: dict[str, Any], path: str, described: dict[str, Any]) -> None:
    for order, field in enumerate(fields):
        name = path + field["name"][0].upper() + field["name"][1:]
        described[name] = {
            "order": order,
            "type": field["type"],
            "versions": _range(field.get("versions") or field["taggedVersions"]),
            "nullable": _range(field.get("nullableVersions", "none")),
            "tag": field.get("tag"),
            "tagged": _range(field.get("taggedVersions", "none")),
            "default": _kafka_default(field),
            "ignorable": field.get("ignorable", False),
            "entity": field.get("entityType"),
            "flexible": field.get("flexibleVersions"),
        }
        inner = field.get("fields") or shared.get(field["type"].removeprefix("[]"))
        if inner:
            _describe_kafka_fields(inner, shared, name + ".", described)


def _kafka_default(field: dict[str, Any]) -> Any:
    """The default as a value. Numbers are text, in decimal or hex; zeros are left out.

    Kafka's generator takes the text "null" for null. A JSON null is no default to it.
    """
    type_name, default = field["type"], field.get("default")
    if default == "null":
        return None
    if type_name == "records":  # null where it may be; elsewhere Kafka has null too, and cannot write it
        return None if "nullableVersions" in field else b""
    if type_name.startswith("[]"):
        return []
    if type_name == "bool":
        return str(default).lower() == "true"
    if type_name == "string":
        return default or ""
    if type_name == "bytes":
        return b""
    if type_name == "uuid":
        return bytes(16)
    if type_name == "float64":
        return float(default or 0)
    return int(str(default or 0), 0) if type_name[0].islower() else "struct"


# -- our side


def describe_ours(message: type[Message]) -> dict[str, Any]:
    """A message of ours in the common form."""
    schema = message.schema
    described = {
        "": {
            "kind": next(_KINDS[base.__name__] for base in message.__mro__ if base.__name__ in _KINDS),
            "key": schema.api_key,
            "versions": schema.versions,
            "flexible": schema.flexible,
            "listeners": sorted(schema.listeners),
            "latest version unstable": schema.latest_version_unstable,
        }
    }
    _describe_our_fields(schema, "", described)
    return described


def _describe_our_fields(schema: Schema, path: str, described: dict[str, Any]) -> None:
    for order, field in enumerate(schema.fields):
        name = path + camel(field.name)
        described[name] = {
            "order": order,
            "type": _type_name(field.wire),
            "versions": field.versions,
            "nullable": field.nullable,
            "tag": field.tag,
            "tagged": field.tagged,
            "default": _our_default(field),
            "ignorable": field.ignorable,
            "entity": field.entity,
            "flexible": "none" if field.never_flexible else None,
        }
        element = field.wire.element if isinstance(field.wire, Array) else field.wire
        if isinstance(element, Nested):
            _describe_our_fields(element.schema, name + ".", described)


def _type_name(wire: Wire[Any]) -> str:
    if isinstance(wire, Array):
        return "[]" + _type_name(wire.element)
    if isinstance(wire, Nested):
        name: str = wire.schema.name
        return name
    assert isinstance(wire, Fixed | Sized)
    return wire.type_name


def _our_default(field: Field) -> Any:
    default = field.default_value()
    if isinstance(field.wire, Nested) and default is not None:
        return "struct"
    return bytes(default) if field.wire is Records and default is not None else default


def camel(name: str) -> str:
    """`topic_id` -> `TopicId`."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


# -- the comparison


def differences(kafka: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """A line for each property of each field that is not the same on both sides."""
    lines = []
    for path in sorted(kafka.keys() | ours.keys()):
        theirs, mine = kafka.get(path, {}), ours.get(path, {})
        pairs = {what: (theirs.get(what, "absent"), mine.get(what, "absent")) for what in theirs.keys() | mine.keys()}
        lines += [f"{path} {what}: Kafka {their}, ours {my}" for what, (their, my) in pairs.items() if their != my]
    return lines


_range = parse_versions
