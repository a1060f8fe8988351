"""A field of a message: a wire type, and the versions in which it exists, may be null, or is tagged."""

from typing import Any, Final, TypeVar, overload

import construct

from kafkish_protocol.errors import CodecError
from kafkish_protocol.types import Nested, Stream, Wire, as_wire, take
from kafkish_protocol.versions import Versions, parse_versions

T = TypeVar("T")

_ZERO: Final[Any] = object()  # no default declared: the wire type's own zero


class Field(construct.Subconstruct):  # type: ignore[misc]  # construct has no type hints
    """The construct behind `field()`; nothing is parsed in versions that have no such field."""

    name: str  # set by the class that the field stands in

    def __init__(self, wire: Wire[Any]) -> None:
        super().__init__(wire)
        self.wire = wire
        self.versions: Versions
        self.nullable: Versions
        self.tagged: Versions
        self.tag: int | None = None
        self.default: Any = _ZERO
        self.ignorable = False
        self.entity: str | None = None
        self.never_flexible = False

    def default_value(self) -> Any:
        """The value of this field where it was not sent; a fresh one if it is mutable."""
        return self.wire.zero() if self.default is _ZERO else self.default

    def in_body(self, version: int) -> bool:
        """Whether this version carries the field among the others, not in the tagged section."""
        return version in self.versions and version not in self.tagged

    def in_tags(self, version: int) -> bool:
        """Whether this version carries the field in the tagged section."""
        return version in self.versions and version in self.tagged

    def minimum_bytes(self, version: int, flexible: bool) -> int:
        """The fewest bytes that this field takes in this version's body."""
        if not self.in_body(version):
            return 0
        if self.null_marker(version) is not None:
            return 1
        return self.wire.minimum_bytes(version, flexible and not self.never_flexible)

    def null_marker(self, version: int) -> int | None:
        """The byte that stands for a null struct; 1 stands before one that is not null.

        In the body it is -1 as an int8, in a tagged section 0 as a varint. None where the struct cannot be null.
        """
        if not isinstance(self.wire, Nested) or version not in self.nullable:
            return None
        return 0 if version in self.tagged else 0xFF

    def parse_value(self, stream: Stream, context: Any, path: str) -> Any:
        """Read the value of a field that is known to be there."""
        start = stream.tell()
        may_be_null = context._params.version in self.nullable
        marker = self.null_marker(context._params.version)
        if marker is not None and is_null(take(stream, 1, path)[0], marker):
            return None
        value = self.wire._parsereport(stream, self._context(context), path)
        if value is None and not may_be_null:
            raise CodecError("null is not allowed", path=path, offset=start)
        return value

    def build_value(self, obj: Any, stream: Stream, context: Any, path: str) -> None:
        """Write the value of a field that is known to belong there."""
        may_be_null = context._params.version in self.nullable
        if obj is None and not may_be_null:
            raise CodecError("null is not allowed", path=path, offset=stream.tell())
        marker = self.null_marker(context._params.version)
        if marker is not None:
            stream.write(bytes([marker if obj is None else 1]))
            if obj is None:
                return
        self.wire._build(obj, stream, self._context(context), path)

    def _parse(self, stream: Stream, context: Any, path: str) -> Any:
        if self.in_body(context._params.version):
            return self.parse_value(stream, context, path)
        return self.default_value()

    def _build(self, obj: Any, stream: Stream, context: Any, path: str) -> Any:
        version = context._params.version
        if self.in_body(version):
            self.build_value(obj, stream, context, path)
        elif version not in self.versions and not self.ignorable and obj != self.default_value():
            raise CodecError(f"version {version} has no such field", path=path, offset=stream.tell())
        return obj

    def _context(self, context: Any) -> Any:
        if not self.never_flexible:
            return context
        return construct.Container(_params=construct.Container(version=context._params.version, flexible=False))


def is_null(byte: int, marker: int) -> bool:
    """Whether the byte before a nullable struct says null. Kafka takes any negative int8 for -1."""
    return byte == 0 if marker == 0 else byte > 0x7F


# fmt: off
@overload
def field(wire: Wire[T] | type[T], versions: str, *, tag: int = ..., tagged: str = ..., default: T = ...,
          ignorable: bool = ..., entity: str = ..., flexible: str = ...) -> T: ...
@overload
def field(wire: Wire[T] | type[T], versions: str, *, nullable: str, tag: int = ..., tagged: str = ...,
          default: T | None = ..., ignorable: bool = ..., entity: str = ..., flexible: str = ...) -> T | None: ...
# fmt: on
def field(
    wire: Any,
    versions: str,
    *,
    nullable: str = "none",
    tag: int | None = None,
    tagged: str = "none",
    default: Any = _ZERO,
    ignorable: bool = False,
    entity: str | None = None,
    flexible: str = "",
) -> Any:
    """Define a field in the words of Kafka's schemas.

    `versions`, `nullable` and `tagged` are ranges. Outside its versions a field has its `default`; writing any other
    value there is an error unless the field is `ignorable`. `entity` says what the value names. `flexible="none"`
    keeps the classic length prefix in flexible versions.
    """
    made = Field(as_wire(wire))
    made.versions = parse_versions(versions)
    made.nullable = parse_versions(nullable)
    made.tagged = parse_versions(tagged)
    made.tag = tag
    made.default = default
    made.ignorable = ignorable
    made.entity = entity
    made.never_flexible = flexible == "none"
    return made
