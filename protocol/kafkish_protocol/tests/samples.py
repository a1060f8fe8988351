"""Messages made by dice: any message, any version, values at the edges more often than chance would have them."""

import random
from typing import Any

from kafkish_protocol.fields import Field
from kafkish_protocol.schema import Message, Schema, Struct
from kafkish_protocol.types import UUID, Array, Bool, Bytes, Fixed, Float64, Nested, Records, String, Wire

_BITS = {"b": 8, "h": 16, "i": 32, "q": 64}
_SIZES = (0, 1, 2, 3, 126, 127, 128, 129, 300)  # a varint of the length plus one grows at 127
_ALPHABET = "abcXYZ019._-é\u0416\u4e2d\U0001f600\x00"


def sample(message: type[Message], version: int, dice: random.Random) -> Message:
    """A value that this version can carry, with defaults where the version has no field."""
    made = _struct(message.schema, version, dice, depth=0)
    assert isinstance(made, message)
    return made


def _struct(schema: Schema, version: int, dice: random.Random, depth: int) -> Struct:
    present = [field for field in schema.fields if version in field.versions]
    return schema.struct_class(**{field.name: _field(field, version, dice, depth) for field in present})


def _field(field: Field, version: int, dice: random.Random, depth: int) -> Any:
    if version in field.nullable and dice.random() < 0.3:
        return None
    if dice.random() < 0.2:
        default = field.default_value()
        if default is not None or version in field.nullable:
            return default
    return _value(field.wire, version, dice, depth)


def _value(wire: Wire[Any], version: int, dice: random.Random, depth: int) -> Any:
    if isinstance(wire, Array):
        return [_value(wire.element, version, dice, depth + 1) for _ in range(_count(wire.element, dice, depth))]
    if isinstance(wire, Nested):
        return _struct(wire.schema, version, dice, depth + 1)
    if wire is String:
        return "".join(dice.choice(_ALPHABET) for _ in range(dice.choice(_SIZES)))
    if wire is Bytes:
        return dice.randbytes(dice.choice(_SIZES))
    if wire is Records:
        return memoryview(dice.randbytes(dice.choice(_SIZES)))
    if wire is UUID:
        return dice.randbytes(16)
    if wire is Bool:
        return dice.random() < 0.5
    if wire is Float64:
        return dice.choice((0.0, -1.5, 1e300, dice.random()))
    assert isinstance(wire, Fixed)
    return _integer(wire.format, dice)


def _integer(format: str, dice: random.Random) -> int:
    bits = _BITS[format.lower()]
    low, high = (0, 2**bits - 1) if format.isupper() else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return dice.choice((low, high, 0, 1, dice.randint(low, high)))


def _count(element: Wire[Any], dice: random.Random, depth: int) -> int:
    """Few elements inside other arrays, so that messages stay small; now and then enough for a two-byte count."""
    if depth == 0 and isinstance(element, Fixed) and dice.random() < 0.1:
        return 130
    return dice.choice((0, 1, 2, 3) if depth == 0 else (0, 1, 2))
