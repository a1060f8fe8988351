"""The initialiser of a message's class: keyword arguments with the fields' defaults."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkish_protocol.derive.source import Source
from kafkish_protocol.types import Array, Nested

if TYPE_CHECKING:
    from kafkish_protocol.fields import Field
    from kafkish_protocol.schema import Schema


def derive_init(schema: "Schema") -> Callable[..., None]:
    """Derive `__init__`. A mutable default is made anew in each call."""
    arguments = ", ".join(f"{f.name}=default_{f.name}" for f in schema.fields)
    source = Source(f"def __init__(self, {'*, ' + arguments if arguments else ''}):")
    unset = source.constant("unset", object())
    for f in schema.fields:
        if is_mutable(f):
            source.constant(f"default_{f.name}", source.constants["unset"])
            with source.block(f"if {f.name} is {unset}:"):
                make_default(source, f, f"self.{f.name}")
            with source.block("else:"):
                source.line(f"self.{f.name} = {f.name}")
        else:
            source.constant(f"default_{f.name}", f.default_value())
            source.line(f"self.{f.name} = {f.name}")
    source.line("return")
    return source.compile(f"<{schema.name} init>")


def make_default(source: Source, f: "Field", target: str) -> None:
    """Give a field its default. A struct is made field by field, quicker than by its `__init__`."""
    if not is_mutable(f):
        source.line(f"{target} = {f.default_value()!r}")
    elif isinstance(f.wire, Nested):
        inner, struct_class = f"o{source.number()}", f.wire.schema.struct_class
        made = source.constant(struct_class.__name__, struct_class)
        source.line(f"{target} = {inner} = {source.constant('new', object.__new__)}({made})")
        for inner_field in f.wire.schema.fields:
            make_default(source, inner_field, f"{inner}.{inner_field.name}")
    else:
        source.line(f"{target} = []")


def is_mutable(f: "Field") -> bool:
    """Whether the field's default is a list or a struct, which instances must not share."""
    return isinstance(f.wire, Array | Nested) and f.default_value() is not None
