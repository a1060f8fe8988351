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
            made = "[]" if isinstance(f.wire, Array) else f"{source.constant(f'make_{f.name}', f.default_value)}()"
            source.line(f"self.{f.name} = {made} if {f.name} is {unset} else {f.name}")
        else:
            source.constant(f"default_{f.name}", f.default_value())
            source.line(f"self.{f.name} = {f.name}")
    source.line("return")
    return source.compile(f"<{schema.name} init>")


def is_mutable(f: "Field") -> bool:
    """Whether the field's default is a list or a struct, which instances must not share."""
    return isinstance(f.wire, Array | Nested) and f.default_value() is not None
