"""Kafka's wire types, as constructs.

Each one parses and builds by itself, so a schema made of them is a construct like any other: slow, plain, and the
definition. `kafkish_protocol.derive` reads the same objects and writes the fast codec.

A length or count is checked against the bytes that are left before anything is allocated. Whether lengths are varints
("compact") is a property of the message's version: it travels in the context as `flexible`.
"""

import struct
from io import BytesIO
from typing import Any, Final, Generic, NewType, TypeVar, cast

from construct import Construct

from kafkish_protocol.errors import CodecError, Malformed
from kafkish_protocol.limits import MAX_STRING_BYTES
from kafkish_protocol.varint import read_uvarint, write_uvarint

T = TypeVar("T")

Uuid = NewType("Uuid", bytes)
"""16 bytes. Kafka prints it as unpadded URL-safe base64; `kafkish_protocol.uuids` does that."""

ZERO_UUID: Final = Uuid(bytes(16))

Stream = BytesIO


def bytes_left(stream: Stream) -> int:
    """Bytes between the stream's position and its end."""
    return len(stream.getbuffer()) - stream.tell()


def take(stream: Stream, count: int, path: str) -> bytes:
    """Read exactly `count` bytes or refuse."""
    if count > bytes_left(stream):
        raise CodecError(f"needs {count} bytes, {bytes_left(stream)} left", path=path, offset=stream.tell())
    return stream.read(count)


def take_uvarint(stream: Stream, path: str) -> int:
    """Read an unsigned varint or refuse."""
    start = stream.tell()
    try:
        value, end = read_uvarint(stream.getbuffer(), start)
    except (Malformed, IndexError) as error:
        raise CodecError(str(error), path=path, offset=start) from None
    stream.seek(end)
    return value


def put_uvarint(stream: Stream, value: int) -> None:
    """Write an unsigned varint."""
    out = bytearray()
    write_uvarint(out, value)
    stream.write(out)


class Wire(Construct, Generic[T]):  # type: ignore[misc]  # construct has no type hints
    """A wire type whose Python value is a `T`."""

    def zero(self) -> T:
        """The value of a field that was not sent and declares no default."""
        raise NotImplementedError

    def minimum_bytes(self, version: int, flexible: bool) -> int:
        """The fewest bytes that a value can take: bounds an array's count."""
        raise NotImplementedError


class Fixed(Wire[T]):
    """A number of fixed width, described by its `struct` format character."""

    def __init__(self, name: str, format: str, zero: T) -> None:
        super().__init__()
        self.type_name = name
        self.format = format
        self._struct = struct.Struct(">" + format)
        self._zero = zero

    def zero(self) -> T:
        return self._zero

    def minimum_bytes(self, version: int, flexible: bool) -> int:  # noqa: ARG002
        return self._struct.size

    def _parse(self, stream: Stream, context: Any, path: str) -> T:  # noqa: ARG002
        value: T = self._struct.unpack(take(stream, self._struct.size, path))[0]
        return value

    def _build(self, obj: T, stream: Stream, context: Any, path: str) -> T:  # noqa: ARG002
        try:
            stream.write(self._struct.pack(obj))
        except struct.error as error:
            raise CodecError(str(error), path=path, offset=stream.tell()) from None
        return obj


class Sized(Wire[T]):
    """A value behind its length: a string, bytes or records. Null is a length of -1, and nothing else is."""

    classic_format: str  # of the length, where the version is not flexible
    max_bytes: int | None = None
    type_name: str

    def minimum_bytes(self, version: int, flexible: bool) -> int:  # noqa: ARG002
        return 1 if flexible else struct.calcsize(">" + self.classic_format)

    def encode(self, value: T) -> bytes:
        raise NotImplementedError

    def decode(self, data: bytes) -> T:
        raise NotImplementedError

    def _parse(self, stream: Stream, context: Any, path: str) -> T | None:
        start = stream.tell()
        length = take_length(stream, self.classic_format, context, path)
        if length is None:
            return None
        if self.max_bytes is not None and length > self.max_bytes:
            raise CodecError(f"{length} bytes, at most {self.max_bytes} allowed", path=path, offset=start)
        return self.decode(take(stream, length, path))

    def _build(self, obj: T | None, stream: Stream, context: Any, path: str) -> T | None:
        data = None if obj is None else self.encode(obj)
        if data is not None and self.max_bytes is not None and len(data) > self.max_bytes:
            raise CodecError(f"{len(data)} bytes, at most {self.max_bytes} allowed", path=path, offset=stream.tell())
        put_length(stream, self.classic_format, None if data is None else len(data), context)
        stream.write(data or b"")
        return obj


class _String(Sized[str]):
    type_name = "string"
    classic_format = "h"
    max_bytes = MAX_STRING_BYTES

    def zero(self) -> str:
        return ""

    def encode(self, value: str) -> bytes:
        return value.encode()

    def decode(self, data: bytes) -> str:
        return data.decode("utf-8", "replace")  # as Java does; names are validated by whoever uses them


class _Bytes(Sized[bytes]):
    type_name = "bytes"
    classic_format = "i"

    def zero(self) -> bytes:
        return b""

    def encode(self, value: bytes) -> bytes:
        return value

    def decode(self, data: bytes) -> bytes:
        return data


class _Records(Sized[memoryview]):
    """Record batches, opaque here: decoded as a view of the frame, never copied."""

    type_name = "records"
    classic_format = "i"

    def zero(self) -> memoryview:
        return memoryview(b"")

    def encode(self, value: memoryview) -> bytes:
        return bytes(value)

    def decode(self, data: bytes) -> memoryview:
        return memoryview(data)


class Array(Wire[list[T]]):
    """A counted list. `element` is a wire type or a Struct class."""

    classic_format = "i"  # of the count, where the version is not flexible

    def __init__(self, element: "Wire[T] | type[T]") -> None:
        super().__init__()
        self.element = as_wire(element)

    def zero(self) -> list[T]:
        return []

    def minimum_bytes(self, version: int, flexible: bool) -> int:  # noqa: ARG002
        return 1 if flexible else 4

    def _parse(self, stream: Stream, context: Any, path: str) -> list[T] | None:
        start = stream.tell()
        count = take_length(stream, "i", context, path)
        if count is None:
            return None
        params = context._params
        needed = count * max(1, self.element.minimum_bytes(params.version, params.flexible))
        if needed > bytes_left(stream):
            reason = f"{count} elements need {needed} bytes, {bytes_left(stream)} left"
            raise CodecError(reason, path=path, offset=start)
        return [self.element._parsereport(stream, context, f"{path}[{index}]") for index in range(count)]

    def _build(self, obj: list[T] | None, stream: Stream, context: Any, path: str) -> list[T] | None:
        put_length(stream, "i", None if obj is None else len(obj), context)
        for index, item in enumerate(obj or ()):
            self.element._build(item, stream, context, f"{path}[{index}]")
        return obj


class Nested(Wire[T]):
    """A struct inside a message."""

    def __init__(self, struct_class: type[T]) -> None:
        super().__init__()
        self.struct_class = struct_class

    @property
    def schema(self) -> Any:
        return self.struct_class.schema  # type: ignore[attr-defined]

    def zero(self) -> T:
        return self.struct_class()

    def minimum_bytes(self, version: int, flexible: bool) -> int:
        total: int = self.schema.minimum_bytes(version, flexible)
        return total

    def _parse(self, stream: Stream, context: Any, path: str) -> T:
        value: T = self.schema.construct._parsereport(stream, context, path)
        return value

    def _build(self, obj: T, stream: Stream, context: Any, path: str) -> T:
        self.schema.construct._build(obj, stream, context, path)
        return obj


def as_wire(wire: "Wire[T] | type[T]") -> Wire[T]:
    """Let a Struct class stand where a wire type is expected."""
    return cast("Wire[T]", wire) if isinstance(wire, Wire) else Nested(wire)


def take_length(stream: Stream, classic_format: str, context: Any, path: str) -> int | None:
    """Read a length or count; None is null."""
    start = stream.tell()
    if context._params.flexible:
        length = take_uvarint(stream, path) - 1
    else:
        length = struct.unpack(">" + classic_format, take(stream, struct.calcsize(">" + classic_format), path))[0]
    if length < -1:
        raise CodecError(f"negative length {length}", path=path, offset=start)
    return None if length == -1 else length


def put_length(stream: Stream, classic_format: str, length: int | None, context: Any) -> None:
    """Write a length or count; None is null."""
    if context._params.flexible:
        put_uvarint(stream, 0 if length is None else length + 1)
    else:
        stream.write(struct.pack(">" + classic_format, -1 if length is None else length))


Bool: Final = Fixed("bool", "?", False)
Int8: Final = Fixed("int8", "b", 0)
Int16: Final = Fixed("int16", "h", 0)
Int32: Final = Fixed("int32", "i", 0)
Int64: Final = Fixed("int64", "q", 0)
Uint16: Final = Fixed("uint16", "H", 0)
Uint32: Final = Fixed("uint32", "I", 0)
Float64: Final = Fixed("float64", "d", 0.0)
UUID: Final = Fixed("uuid", "16s", ZERO_UUID)
String: Final = _String()
Bytes: Final = _Bytes()
Records: Final = _Records()
