"""A workload as a file: one JSON object on a line for each request, with symbols for what each broker names itself."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafkish_protocol.api import ApiKey, request_class, request_header_version
from kafkish_protocol.errors import CodecError
from kafkish_protocol.messages.headers import RequestHeader
from kafkish_protocol.schema import Request, Struct
from kafkish_protocol.types import Nested


@dataclass(frozen=True, slots=True)
class Damage:
    """What is done to the bytes of a request before they go out."""

    cut_bytes: int = 0
    appended: bytes = b""
    api_key: int | None = None  # in the header, in place of what the body is
    version: int | None = None

    def applied(self, header: bytes, body: bytes) -> bytes:
        data = header + body[: len(body) - self.cut_bytes] + self.appended
        if self.api_key is not None:
            data = self.api_key.to_bytes(2, "big", signed=True) + data[2:]
        if self.version is not None:
            data = data[:2] + self.version.to_bytes(2, "big", signed=True) + data[4:]
        return data


@dataclass(frozen=True, slots=True)
class Step:
    """One request on one of several connections."""

    lane: int
    request: Request
    version: int
    damage: Damage = field(default_factory=Damage)

    @property
    def key(self) -> ApiKey:
        return ApiKey(self.request.schema.api_key or 0)

    def __str__(self) -> str:
        damage = "" if self.damage == Damage() else f", {self.damage}"
        return f"{self.key.title} v{self.version} on connection {self.lane}{damage}\n{outline(self.request, 1)}"


def frame(step: Step, request: Request, correlation_id: int) -> bytes:
    """The bytes that go over the wire."""
    header = RequestHeader(
        request_api_key=step.key, request_api_version=step.version, correlation_id=correlation_id, client_id="diff"
    )
    data = step.damage.applied(
        header.encode(request_header_version(step.key, step.version)), request.encode(step.version)
    )
    return len(data).to_bytes(4, "big") + data


def outline(value: Any, depth: int = 0) -> str:
    """A message for people: what is not at its default, indented."""
    space = "  " * depth
    if isinstance(value, Struct):
        shown = [each for each in value.schema.fields if getattr(value, each.name) != each.default_value()]
        lines = [f"{space}{each.name}:{outline_value(getattr(value, each.name), depth)}" for each in shown]
        return "\n".join(lines) or f"{space}(all defaults)"
    return f"{space}{value!r}"


def outline_value(value: Any, depth: int) -> str:
    if isinstance(value, Struct):
        return "\n" + outline(value, depth + 1)
    if isinstance(value, list) and value and isinstance(value[0], Struct):
        return "".join(f"\n{'  ' * depth}-\n{outline(each, depth + 1)}" for each in value)
    if isinstance(value, bytes | bytearray | memoryview):
        return f" {len(value)} bytes {bytes(value)[:80].hex()}"
    return f" {value!r}"


# -- the file


def write(steps: Iterable[Step], path: Path) -> None:
    """Keep a workload."""
    path.write_text("".join(json.dumps(step_to_json(step)) + "\n" for step in steps))


def read(path: Path) -> Iterator[Step]:
    """Read a workload; says which line is wrong."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            try:
                yield step_from_json(json.loads(line))
            except (KeyError, TypeError, ValueError, CodecError) as error:
                raise ValueError(f"{path}, line {number}: not a request: {error!r}") from error


def step_to_json(step: Step) -> dict[str, Any]:
    damage = {
        "cut_bytes": step.damage.cut_bytes, "appended": step.damage.appended.hex(),
        "api_key": step.damage.api_key, "version": step.damage.version,
    }  # fmt: skip
    shown = {} if step.damage == Damage() else {"damage": damage}
    return {
        "lane": step.lane,
        "api": step.key.name,
        "version": step.version,
        "request": to_json(step.request),
        **shown,
    }


def step_from_json(data: dict[str, Any]) -> Step:
    key = ApiKey[data["api"]]
    damage = data.get("damage")
    if damage is not None:
        damage = Damage(**{**damage, "appended": bytes.fromhex(damage["appended"])})
    request = struct_from_json(request_class(key), data["request"])
    return Step(int(data["lane"]), request, int(data["version"]), damage or Damage())


def to_json(value: Any) -> Any:
    if isinstance(value, Struct):
        return {each.name: to_json(getattr(value, each.name)) for each in value.schema.fields}
    if isinstance(value, list):
        return [to_json(each) for each in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return {"hex": bytes(value).hex()}
    return value


def struct_from_json(struct_class: type[Any], data: dict[str, Any]) -> Any:
    fields = {each.name: each for each in struct_class.schema.fields}
    return struct_class(**{name: from_json(fields[name].wire, value) for name, value in data.items()})


def from_json(wire: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [from_json(wire.element, each) for each in value]
    if isinstance(value, dict) and isinstance(wire, Nested):
        return struct_from_json(wire.struct_class, value)
    if isinstance(value, dict):
        return bytes.fromhex(value["hex"])
    return value
