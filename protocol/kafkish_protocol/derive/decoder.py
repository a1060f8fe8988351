"""Derives the reader of one message in one version.

The function that it writes has the frame in `buf`, the frame's length in `end` and the position in `p`. Fields of fixed
width pile up in a run until one of variable length comes; its length closes the run, and one `struct` call reads them
all. As a varint, a length below 128 takes one byte: the longer ones go through a branch of their own.
"""

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Final

from kafkish_protocol.derive.errors import DECODE_FAULTS, raise_decode_error
from kafkish_protocol.derive.init import make_default
from kafkish_protocol.derive.source import Part, Source
from kafkish_protocol.errors import Malformed
from kafkish_protocol.fields import Field, is_null
from kafkish_protocol.limits import MAX_ELEMENTS_PER_MESSAGE, MAX_TAGS_PER_STRUCT
from kafkish_protocol.schema import MessageSchema, Schema
from kafkish_protocol.types import UUID, Array, Bytes, Fixed, Nested, Records, Sized, String, Wire
from kafkish_protocol.varint import read_uvarint

_SLICES: Final[dict[Wire[Any], str]] = {
    String: "buf[p:{n}].decode('utf-8', 'replace')",
    Bytes: "bytes(buf[p:{n}])",
    Records: "view[p:{n}]",
}


def derive_decoder(schema: MessageSchema, version: int) -> Any:
    """The compiled reader: (frame, offset) -> (message, offset of what follows it)."""
    return DecoderSource(schema, version).derive()


class DecoderSource:
    """Writes the reader's lines, in the order of the bytes."""

    def __init__(self, schema: MessageSchema, version: int) -> None:
        self.schema = schema
        self.version = version
        self.flexible = version in schema.flexible
        self.source = Source(f"def decode(buf, p=0, budget={MAX_ELEMENTS_PER_MESSAGE}):")
        self.run: list[Part] = []

    def derive(self) -> Any:
        source = self.source
        with source.block("try:"):
            source.line("end = len(buf)")
            if any(f.wire is Records for f in all_fields(self.schema)):
                source.line("view = memoryview(buf)")
            self.struct(self.schema, "message")
            source.line("return message, p")
        with source.block("except DECODE_FAULTS as error:"):
            source.line("raise_decode_error(error, locals(), PLACES, NAME)")
        source.constants.update(_GLOBALS, NAME=f"{self.schema.name} v{self.version}")
        return source.compile(f"<{self.schema.name} v{self.version} decoder>")

    # -- structs

    def struct(self, schema: Schema, target: str) -> None:
        """Read a struct into a new object called `target`."""
        source = self.source
        source.line(f"{target} = new({self.class_of(schema)})")
        for f in schema.fields:
            with source.at(f.name):
                if f.in_body(self.version):
                    self.field(f, f"{target}.{f.name}")
                else:
                    make_default(source, f, f"{target}.{f.name}")
        if self.flexible:
            with source.at("tags"):
                self.tags([f for f in schema.fields if f.in_tags(self.version)], target)
        self.flush()

    def class_of(self, schema: Schema) -> str:
        return self.source.constant(schema.struct_class.__name__, schema.struct_class)

    def tags(self, known: list[Field], target: str) -> None:
        """Read the tagged section: nearly always one zero byte, read together with what stands before it."""
        source, number = self.source, self.source.number()
        count, tag, size, stop = (f"{name}{number}" for name in ("count", "tag", "size", "stop"))
        self.read("B", count)
        self.flush()
        if not known:
            source.line(f"if {count}: p = skip_tags(buf, p, {count})")
            return
        with source.block(f"if {count}:"):
            source.line(f"if {count} > 127: {count}, p = read_uvarint(buf, p - 1)")
            self.refuse_if(f"{count} > {MAX_TAGS_PER_STRUCT}", f"more than {MAX_TAGS_PER_STRUCT} tagged fields")
            with source.block(f"for _ in range({count}):"):
                source.line(f"{tag}, p = read_uvarint(buf, p)")
                source.line(f"{size}, p = read_uvarint(buf, p)")
                source.line(f"{stop} = p + {size}")
                self.refuse_if(f"{stop} > end", f"tag {{{tag}}} needs {{{size}}} bytes, {{end - p}} left")
                for f in known:
                    with source.block(f"if {tag} == {f.tag}:"):
                        self.field(f, f"{target}.{f.name}")
                        self.flush()
                        self.refuse_if(f"p != {stop}", f"tag {f.tag} does not take the {{{size}}} bytes that it says")
                source.line(f"p = {stop}")

    # -- values

    def field(self, f: Field, target: str) -> None:
        """Read a field's value into `target`."""
        marker = f.null_marker(self.version)
        if marker is None:
            self.value(f.wire, target, self.version in f.nullable, self.flexible and not f.never_flexible)
            return
        n = f"n{self.source.number()}"
        self.read("B", n)
        self.flush()
        with self.null_if(f"is_null({n}, {marker})", target):
            self.value(f.wire, target, False, self.flexible)

    def value(self, wire: Wire[Any], target: str, nullable: bool, compact: bool) -> None:
        """Read a value of this wire type into `target`."""
        source = self.source
        if isinstance(wire, Fixed):
            self.read(wire.format, target)
        elif isinstance(wire, Nested):
            self.flush()
            self.struct(wire.schema, inner := f"o{source.number()}")
            source.line(f"{target} = {inner}")
        elif isinstance(wire, Sized | Array):
            n = f"n{source.number()}"
            self.read("B" if compact else wire.classic_format, n)
            self.flush()
            if compact:
                source.line(f"if {n} > 127: {n}, p = read_uvarint(buf, p - 1)")
            with self.null_if(f"{n} == {0 if compact else -1}", target) if nullable else nullcontext():
                if isinstance(wire, Sized):
                    self.sized(wire, target, n, compact)
                else:
                    self.array(wire, target, n, compact)

    @contextmanager
    def null_if(self, condition: str, target: str) -> Iterator[None]:
        """The value is None on this condition; otherwise it is read by the lines inside the `with`."""
        with self.source.block(f"if {condition}:"):
            self.source.line(f"{target} = None")
        with self.source.block("else:"):
            yield

    def sized(self, wire: Sized[Any], target: str, n: str, compact: bool) -> None:
        """A string, bytes or records: `n`, the length, becomes the position where the value stops."""
        source = self.source
        if compact and wire.max_bytes is not None:
            self.refuse_if(f"{n} > {wire.max_bytes + 1}", f"{{{n} - 1}} bytes, at most {wire.max_bytes}")
        source.line(f"{n} += p - 1" if compact else f"{n} += p")
        source.line(f"if not p <= {n} <= end: raise Malformed(bad_length({n} - p, end - p))")
        source.line(f"{target} = {_SLICES[wire].format(n=n)}; p = {n}")

    def array(self, wire: Array[Any], target: str, n: str, compact: bool) -> None:
        """A counted list, refused before the first element if the count cannot be true."""
        source = self.source
        least = max(1, wire.element.minimum_bytes(self.version, self.flexible))
        source.line(f"{target} = a{n[1:]} = []")
        with source.block(f"if {n} != {1 if compact else 0}:"):
            if compact:
                source.line(f"{n} -= 1")
            source.line(f"if not 0 <= {n} * {least} <= end - p: raise Malformed(bad_count({n}, {least}, end - p))")
            source.line(f"budget -= {n}")
            self.refuse_if("budget < 0", f"more than {MAX_ELEMENTS_PER_MESSAGE} array elements in one message")
            self.elements(wire.element, f"a{n[1:]}", n, compact)

    def elements(self, element: Wire[Any], items: str, n: str, compact: bool) -> None:
        """Read `n` elements into the list `items`: numbers in one call, anything else in a loop."""
        source, number = self.source, self.source.number()
        if element is UUID:
            source.line(f"{items} += [bytes(buf[k:k + 16]) for k in range(p, p + 16 * {n}, 16)]; p += 16 * {n}")
        elif isinstance(element, Fixed):
            unpackers = source.constant(f"unpackers_{element.format}", Unpackers(element.format))
            source.line(f"{items} += {unpackers}[{n}](buf, p); p += {element.minimum_bytes(0, False)} * {n}")
        else:
            with source.block(f"for i{number} in range({n}):"), source.at(f"[{{i{number}}}]"):
                if isinstance(element, Nested):
                    self.struct(element.schema, f"o{number}")
                else:
                    self.value(element, f"o{number}", False, compact)
                source.line(f"{items}.append(o{number})")

    # -- runs of fixed-width fields

    def read(self, format: str, target: str) -> None:
        """Read a fixed-width field with the rest of its run."""
        self.run.append(Part(format, target, self.source.path))

    def flush(self) -> None:
        """Write the line that reads the run."""
        if not self.run:
            return
        run, self.run = tuple(self.run), []
        targets = ", ".join(part.expression for part in run)
        format = "".join(part.format for part in run)
        size = struct.calcsize(">" + format)
        if format == "B":
            self.source.line(f"{targets} = buf[p]; p += 1", run)
        else:
            name = "unpack_" + format.replace("?", "t")
            unpack = self.source.constant(name, struct.Struct(">" + format).unpack_from)
            self.source.line(f"{targets}{',' if len(run) == 1 else ''} = {unpack}(buf, p); p += {size}", run)

    def refuse_if(self, condition: str, reason: str) -> None:
        """Stop here with a reason, an f-string's text, if the condition holds."""
        self.source.line(f'if {condition}: raise Malformed(f"{reason}")')


def all_fields(schema: Schema) -> Iterator[Field]:
    """The fields of a message and of the structs in it."""
    for f in schema.fields:
        yield f
        element = f.wire.element if isinstance(f.wire, Array) else f.wire
        if isinstance(element, Nested):
            yield from all_fields(element.schema)


class Unpackers(dict[int, Callable[[Any, int], tuple[Any, ...]]]):
    """Count -> reader of that many numbers of one width. Small counts are kept; any count works."""

    def __init__(self, format: str) -> None:
        super().__init__()
        self._format = format

    def __missing__(self, count: int) -> Callable[[Any, int], tuple[Any, ...]]:
        unpack = struct.Struct(f">{count}{self._format}").unpack_from
        if count < 64:
            self[count] = unpack
        return unpack


def skip_tags(buf: bytes | bytearray, p: int, count: int) -> int:
    """The position after a section of tags that this version does not know."""
    if count > 127:
        count, p = read_uvarint(buf, p - 1)
    if count > MAX_TAGS_PER_STRUCT:
        raise Malformed(f"more than {MAX_TAGS_PER_STRUCT} tagged fields")
    for _ in range(count):
        tag, p = read_uvarint(buf, p)
        size, p = read_uvarint(buf, p)
        if p + size > len(buf):
            raise Malformed(f"tag {tag} needs {size} bytes, {len(buf) - p} left")
        p += size
    return p


def bad_length(length: int, left: int) -> str:
    """Why this many bytes cannot be read."""
    if length == -1:
        return "null is not allowed"
    return f"negative length {length}" if length < 0 else f"needs {length} bytes, {left} left"


def bad_count(count: int, least: int, left: int) -> str:
    """Why this many elements cannot be read."""
    if count == -1:
        return "null is not allowed"
    return f"negative count {count}" if count < 0 else f"{count} elements need {count * least} bytes, {left} left"


_GLOBALS: Final[dict[str, Any]] = {
    "new": object.__new__,
    "read_uvarint": read_uvarint,
    "Malformed": Malformed,
    "DECODE_FAULTS": DECODE_FAULTS,
    "raise_decode_error": raise_decode_error,
    "is_null": is_null,
    "skip_tags": skip_tags,
    "bad_length": bad_length,
    "bad_count": bad_count,
}
