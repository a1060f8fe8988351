"""Derives the writer of one message in one version.

The function that it writes appends to the bytearray `out`. Fields of fixed width pile up in a run, with the length of
the value of variable length that ends it, and one `struct` call packs them all. Records are appended too, unless the
caller passes a list `cuts`: then each is noted there with the place where it belongs, and not copied.
"""

import struct
from collections.abc import Callable
from typing import Any, Final

from kafkish_protocol.derive.errors import ENCODE_FAULTS, raise_encode_error
from kafkish_protocol.derive.source import Part, Source
from kafkish_protocol.errors import Malformed
from kafkish_protocol.fields import Field
from kafkish_protocol.schema import MessageSchema, Schema
from kafkish_protocol.types import UUID, Array, Fixed, Nested, Records, Sized, String, Wire
from kafkish_protocol.varint import write_uvarint


def derive_encoder(schema: MessageSchema, version: int) -> Any:
    """The compiled writer: (message, bytearray to append to, list of records apart or None)."""
    return EncoderSource(schema, version).derive()


class EncoderSource:
    """Writes the writer's lines, in the order of the bytes."""

    def __init__(self, schema: MessageSchema, version: int) -> None:
        self.schema = schema
        self.version = version
        self.flexible = version in schema.flexible
        self.source = Source("def encode(message, out, cuts=None):")
        self.out = "out"
        self.run: list[Part] = []

    def derive(self) -> Any:
        source = self.source
        with source.block("try:"):
            self.struct(self.schema, "message")
            self.flush()
            source.line("return")
        with source.block("except ENCODE_FAULTS as error:"):
            source.line("raise_encode_error(error, locals(), PLACES, NAME)")
        source.constants.update(_GLOBALS, NAME=f"{self.schema.name} v{self.version}")
        return source.compile(f"<{self.schema.name} v{self.version} encoder>")

    # -- structs

    def struct(self, schema: Schema, value: str) -> None:
        """Write the struct that the expression `value` holds."""
        for f in schema.fields:
            with self.source.at(f.name):
                if f.in_body(self.version):
                    self.field(f, f"{value}.{f.name}")
                elif not f.in_tags(self.version) and not f.ignorable:
                    condition = self.differs(f, f"{value}.{f.name}")
                    self.refuse_if(condition, f"version {self.version} has no such field")
        if self.flexible:
            with self.source.at("tags"):
                self.tags(
                    sorted((f for f in schema.fields if f.in_tags(self.version)), key=lambda f: f.tag or 0), value
                )

    def differs(self, f: Field, value: str) -> str:
        """A condition: this field has another value than its default."""
        default = f.default_value()
        if default is None:
            return f"{value} is not None"
        if isinstance(f.wire, Array):
            return f"{value} or {value} is None" if f.nullable.low <= f.nullable.high else value
        if isinstance(f.wire, Nested) and f.nullable.low <= f.nullable.high:
            default_struct = self.source.constant(f"default_{f.wire.schema.name}", default)
            return f"{value} != {default_struct}"
        if isinstance(f.wire, Nested):
            return " or ".join(f"({self.differs(inner, f'{value}.{inner.name}')})" for inner in f.wire.schema.fields)
        return f"{value} != {default!r}"

    def tags(self, tagged: list[Field], value: str) -> None:
        """Write the tagged section, in order of the tags; a field with its default value is not sent."""
        source, number = self.source, self.source.number()
        if not tagged:
            self.run.append(Part("x", "", source.path))
            return
        conditions = [self.differs(f, f"{value}.{f.name}") for f in tagged]
        source.line(f"count{number} = " + " + ".join(f"(1 if {condition} else 0)" for condition in conditions))
        self.write("B", f"count{number}")
        self.flush()
        with source.block(f"if count{number}:"):
            for f, condition in zip(tagged, conditions, strict=True):
                with source.block(f"if {condition}:"):
                    self.tagged_field(f, value, f"tagged{number}")

    def tagged_field(self, f: Field, value: str, scratch: str) -> None:
        """A tag, the size of the value, the value: written apart first, to know its size."""
        self.source.line(f"{scratch} = bytearray()")
        outer, self.out = self.out, scratch
        self.field(f, f"{value}.{f.name}")
        self.flush()
        self.out = outer
        self.source.line(
            f"write_uvarint({outer}, {f.tag}); write_uvarint({outer}, len({scratch})); {outer} += {scratch}"
        )

    # -- values

    def field(self, f: Field, value: str) -> None:
        """Write a field's value."""
        marker = f.null_marker(self.version)
        if marker is None:
            self.value(f.wire, value, self.version in f.nullable, self.flexible and not f.never_flexible)
            return
        self.flush()
        with self.source.block(f"if {value} is None:"):
            self.source.line(f"{self.out}.append({marker})")
        with self.source.block("else:"):
            self.write("B", "1")
            self.value(f.wire, value, False, self.flexible)
            self.flush()

    def value(self, wire: Wire[Any], value: str, nullable: bool, compact: bool) -> None:
        """Write a value of this wire type."""
        if isinstance(wire, Fixed):
            if wire is UUID:
                self.refuse_if(f"len({value}) != 16", "a UUID has 16 bytes")
            self.write(wire.format, value)
        elif isinstance(wire, Nested):
            self.struct(wire.schema, value)
        elif isinstance(wire, Sized):
            self.sized(wire, value, nullable, compact)
        elif isinstance(wire, Array):
            self.array(wire, value, nullable, compact)

    def sized(self, wire: Sized[Any], value: str, nullable: bool, compact: bool) -> None:
        """A string, bytes or records behind their length."""
        source, number = self.source, self.source.number()
        data = f"s{number}"
        source.line(f"{data} = {value}")
        if wire is String:
            source.line(
                f"{data} = {data}.encode()" if not nullable else f"if {data} is not None: {data} = {data}.encode()"
            )
        self.length(data, nullable, compact, wire.classic_format, wire.max_bytes)
        guard = f"if {data}: " if nullable else ""
        if wire is Records:
            with source.block(f"if {data} is not None:"):
                source.line(f"if cuts is None: {self.out} += {data}")
                source.line(f"else: cuts.append((len({self.out}), {data}))")
        else:
            source.line(f"{guard}{self.out} += {data}")

    def array(self, wire: Array[Any], value: str, nullable: bool, compact: bool) -> None:
        """A list behind its count."""
        source, number = self.source, self.source.number()
        items, item = f"a{number}", f"o{number}"
        source.line(f"{items} = {value}")
        self.length(items, nullable, compact, "i", None)
        with source.block(f"if {items}:"):
            if wire.element is UUID:
                source.line(f"{self.out} += b''.join({items})")
            elif isinstance(wire.element, Fixed):
                packers = source.constant(f"packers_{wire.element.format}", Packers(wire.element.format))
                source.line(f"{self.out} += {packers}[len({items})](*{items})")
            else:
                with source.block(f"for {item} in {items}:"), source.at(f"[{{i{number}}}]"):
                    self.value(wire.element, item, False, compact)
                    self.flush()

    def length(self, name: str, nullable: bool, compact: bool, format: str, max_bytes: int | None) -> None:
        """The length of `name`, written with the run before it."""
        source, n = self.source, f"n{name[1:]}"
        extra = 1 if compact else 0
        size = f"len({name}) + 1" if compact else f"len({name})"
        source.line(f"{n} = {size} if {name} is not None else {extra - 1}" if nullable else f"{n} = {size}")
        if not compact:
            self.write(format, n)
            self.flush()
            return
        head = list(self.run)
        with source.block(f"if {n} < 128:"):
            self.write("B", n)
            self.flush()
        with source.block("else:"):
            self.run = head
            self.flush()
            if max_bytes is not None:
                self.refuse_if(f"{n} > {max_bytes + 1}", f"{{{n} - 1}} bytes, at most {max_bytes}")
            source.line(f"write_uvarint({self.out}, {n})")

    # -- runs of fixed-width fields

    def write(self, format: str, value: str) -> None:
        """Write a fixed-width value with the rest of its run."""
        self.run.append(Part(format, value, self.source.path))

    def flush(self) -> None:
        """Write the line that writes the run."""
        if not self.run:
            return
        run, self.run = tuple(self.run), []
        values = ", ".join(part.expression for part in run if part.expression)
        format = "".join(part.format for part in run)
        if format in ("x", "B"):
            self.source.line(f"{self.out}.append({values or 0})", run)
            return
        name = "pack_" + format.replace("?", "t")
        pack = self.source.constant(name, struct.Struct(">" + format).pack)
        self.source.line(f"{self.out} += {pack}({values})", run)

    def refuse_if(self, condition: str, reason: str) -> None:
        """Stop here with a reason, an f-string's text, if the condition holds."""
        self.source.line(f'if {condition}: raise Malformed(f"{reason}")')


class Packers(dict[int, Callable[..., bytes]]):
    """Count -> writer of that many numbers of one width. Small counts are kept; any count works."""

    def __init__(self, format: str) -> None:
        super().__init__()
        self._format = format

    def __missing__(self, count: int) -> Callable[..., bytes]:
        pack = struct.Struct(f">{count}{self._format}").pack
        if count < 64:
            self[count] = pack
        return pack


_GLOBALS: Final[dict[str, Any]] = {
    "write_uvarint": write_uvarint,
    "Malformed": Malformed,
    "ENCODE_FAULTS": ENCODE_FAULTS,
    "raise_encode_error": raise_encode_error,
}
