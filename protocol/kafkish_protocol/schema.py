"""How a message is defined: a class whose fields are constructs.

    class HeartbeatRequest(Request, api_key=12, versions="0-4", flexible="4+", listeners="broker"):
        group_id: str = field(String, "0+", entity="groupId")
        generation_id: int = field(Int32, "0+")
        member_id: str = field(String, "0+")
        group_instance_id: str | None = field(String, "3+", nullable="3+", default=None)

To whoever uses it, the class is a slotted dataclass. `HeartbeatRequest.schema.construct` is the construct, interpreted
field by field. What runs is derived from the same fields at the first use of a version (`kafkish_protocol.derive`);
defining or importing a message derives nothing.
"""

import dataclasses
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

import construct

from kafkish_protocol.errors import CodecError
from kafkish_protocol.fields import Field
from kafkish_protocol.limits import MAX_TAGS_PER_STRUCT
from kafkish_protocol.types import Stream, bytes_left, put_uvarint, take_uvarint
from kafkish_protocol.varint import Buffer
from kafkish_protocol.versions import Versions, parse_versions

if TYPE_CHECKING:
    from kafkish_protocol.derive import Decoder, Encoder


class TagSection(construct.Construct):  # type: ignore[misc]  # construct has no type hints
    """The tagged fields at the end of a struct in a flexible version. Unknown tags are skipped."""

    def __init__(self, fields: tuple[Field, ...]) -> None:
        super().__init__()
        self.fields = sorted((f for f in fields if f.tag is not None), key=lambda f: f.tag or 0)

    def _parse(self, stream: Stream, context: Any, path: str) -> dict[str, Any]:
        if not context._params.flexible:
            return {}
        known = {f.tag: f for f in self.fields if f.in_tags(context._params.version)}
        start, count, values = stream.tell(), take_uvarint(stream, path), {}
        if count > MAX_TAGS_PER_STRUCT:
            raise CodecError(f"{count} tagged fields, at most {MAX_TAGS_PER_STRUCT}", path=path, offset=start)
        for _ in range(count):
            tag, size = take_uvarint(stream, path), take_uvarint(stream, path)
            start = stream.tell()
            if size > bytes_left(stream):
                raise CodecError(f"tag {tag} needs {size} bytes, {bytes_left(stream)} left", path=path, offset=start)
            if tag in known:
                values[known[tag].name] = known[tag].parse_value(stream, context, f"{path}.{known[tag].name}")
                if stream.tell() != start + size:
                    raise CodecError(f"tag {tag} does not take the {size} bytes it says", path=path, offset=start)
            stream.seek(start + size)
        return values

    def _build(self, obj: dict[str, Any], stream: Stream, context: Any, path: str) -> dict[str, Any]:
        if not context._params.flexible:
            return obj
        sent = [f for f in self.fields if f.in_tags(context._params.version) and obj[f.name] != f.default_value()]
        put_uvarint(stream, len(sent))
        for tagged in sent:
            value = Stream()
            tagged.build_value(obj[tagged.name], value, context, f"{path}.{tagged.name}")
            put_uvarint(stream, tagged.tag or 0)
            put_uvarint(stream, len(value.getvalue()))
            stream.write(value.getvalue())
        return obj


class AsStruct(construct.Adapter):  # type: ignore[misc]  # construct has no type hints
    """Turns construct's containers into instances of the struct's class, and back."""

    def __init__(self, struct_class: "type[Struct]", fields: tuple[Field, ...]) -> None:
        super().__init__(construct.Struct(*(f.name / f for f in fields), "tags" / TagSection(fields)))
        self.struct_class = struct_class
        self.names = tuple(f.name for f in fields)

    def _decode(self, obj: Any, context: Any, path: str) -> "Struct":  # noqa: ARG002
        return self.struct_class(**{**{name: obj[name] for name in self.names}, **obj["tags"]})

    def _encode(self, obj: "Struct", context: Any, path: str) -> dict[str, Any]:  # noqa: ARG002
        values = {name: getattr(obj, name) for name in self.names}
        return {**values, "tags": values}


class Schema:
    """What a struct's class is made of."""

    def __init__(self, struct_class: "type[Struct]", fields: tuple[Field, ...], name: str) -> None:
        self.struct_class = struct_class
        self.fields = fields
        self.name = name

    @cached_property
    def construct(self) -> AsStruct:
        """The definition itself, to be parsed or built with `version` and `flexible` in the context."""
        return AsStruct(self.struct_class, self.fields)

    def minimum_bytes(self, version: int, flexible: bool) -> int:
        """The fewest bytes that the struct takes in this version."""
        return sum(f.minimum_bytes(version, flexible) for f in self.fields) + flexible


class MessageSchema(Schema):
    """A schema that stands alone, on the wire or in a log, and has versions."""

    def __init__(
        self,
        struct_class: "type[Struct]",
        fields: tuple[Field, ...],
        name: str,
        *,
        versions: str,
        flexible: str,
        api_key: int | None = None,
        listeners: str = "",
        latest_version_unstable: bool = False,
    ) -> None:
        super().__init__(struct_class, fields, name)
        self.versions: Versions = parse_versions(versions)
        self.flexible: Versions = parse_versions(flexible)
        self.api_key = api_key
        self.listeners = frozenset(listeners.split())
        self.latest_version_unstable = latest_version_unstable

    def parse(self, data: bytes, version: int) -> Any:
        """Parse with the construct itself: slow, for tests and tools."""
        return self.construct.parse(data, version=version, flexible=version in self.flexible)

    def build(self, message: "Message", version: int) -> bytes:
        """Build with the construct itself: slow, for tests and tools."""
        built: bytes = self.construct.build(message, version=version, flexible=version in self.flexible)
        return built

    @cached_property
    def decoders(self) -> "dict[int, Decoder]":
        """Version -> fast reader, derived when first asked for."""
        from kafkish_protocol.derive import Decoders  # noqa: PLC0415  # only when something is derived

        return Decoders(self)

    @cached_property
    def encoders(self) -> "dict[int, Encoder]":
        """Version -> fast writer, derived when first asked for."""
        from kafkish_protocol.derive import Encoders  # noqa: PLC0415  # only when something is derived

        return Encoders(self)


@dataclass_transform(kw_only_default=True)  # every field has a default, so `field` is no specifier to type checkers
class StructMeta(type):
    """Makes a slotted dataclass of a body of fields, without what `@dataclass` costs at import."""

    schema: Schema

    def __new__(
        mcs, class_name: str, bases: tuple[type, ...], body: dict[str, Any], *, name: str = "", **options: Any
    ) -> "StructMeta":
        fields = {key: value for key, value in body.items() if isinstance(value, Field)}
        for key, value in fields.items():
            value.name = key
            del body[key]
        made = super().__new__(mcs, class_name, bases, {**body, "__slots__": tuple(fields)})
        make_schema: Any = MessageSchema if options else Schema
        made.schema = make_schema(made, tuple(fields.values()), name or class_name, **options)
        return made

    def __init__(cls, class_name: str, bases: tuple[type, ...], body: dict[str, Any], **options: Any) -> None:  # noqa: ARG002
        super().__init__(class_name, bases, body)


class DataclassFields:
    """What `dataclasses.fields`, `replace` and `asdict` look for on a class; made when they first do."""

    def __init__(self) -> None:
        self._made: dict[type[Struct], dict[str, Any]] = {}

    def __get__(self, instance: object, owner: type["Struct"]) -> dict[str, Any]:
        if owner not in self._made:
            self._made[owner] = self._make(owner)
        return self._made[owner]

    def _make(self, owner: type["Struct"]) -> dict[str, Any]:
        columns = [
            (f.name, owner.__annotations__[f.name], dataclasses.field(default_factory=f.default_value, kw_only=True))
            for f in owner.schema.fields
        ]
        made: Any = dataclasses.make_dataclass(owner.__name__, columns)
        fields: dict[str, Any] = made.__dataclass_fields__
        return fields


class Struct(metaclass=StructMeta):
    """A group of fields inside a message."""

    schema: ClassVar[Schema]
    __dataclass_fields__ = DataclassFields()

    if not TYPE_CHECKING:  # type checkers see the initialiser that dataclass_transform promises

        def __init__(self, **values):
            """Derive the real initialiser, which replaces this one, and call it."""
            from kafkish_protocol.derive import derive_init  # noqa: PLC0415  # only when something is derived

            type(self).__init__ = derive_init(self.schema)
            self.__init__(**values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, f.name) == getattr(other, f.name) for f in self.schema.fields)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in self.schema.fields)
        return f"{type(self).__name__}({shown})"


class Message(Struct):
    """A struct that is read and written by itself."""

    schema: ClassVar[MessageSchema]

    @classmethod
    def decode(cls, frame: bytes | bytearray, version: int, offset: int = 0) -> Self:
        """Read a message that starts at `offset` and may be followed by anything."""
        message: Self = cls.schema.decoders[version](frame, offset)[0]
        return message

    def encode(self, version: int) -> bytes:
        """Write the message as one run of bytes."""
        out = bytearray()
        self.schema.encoders[version](self, out)
        return bytes(out)

    def encode_around_records(self, version: int) -> list[Buffer]:
        """Write the message as pieces, records apart and not copied, ready for `writelines` or `sendfile`."""
        out = bytearray()
        cuts: list[tuple[int, Buffer]] = []
        self.schema.encoders[version](self, out, cuts)
        return list(interleave(out, cuts))


class Request(Message):
    """What a client or another node asks."""


class Response(Message):
    """What it is answered."""


class Header(Message):
    """What stands before each request and response."""


class MetadataRecord(Message):
    """A record of the cluster's metadata log."""


class CoordinatorKey(Message):
    """The key of a record in a coordinator's log. On disk an int16, its `api_key`, stands before it."""


class CoordinatorValue(Message):
    """The value of a record in a coordinator's log. On disk an int16, its version, stands before it."""


class Data(Message):
    """A message inside another: a control record, a protocol's metadata, a file."""


def interleave(out: bytearray, cuts: list[tuple[int, Buffer]]) -> Iterator[Buffer]:
    """What was written, with the records that were left out in their places."""
    view, start = memoryview(out), 0
    for position, records in cuts:
        if position > start:
            yield view[start:position]
        yield records
        start = position
    if start < len(out):
        yield view[start:]
