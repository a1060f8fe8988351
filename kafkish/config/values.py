"""Text to value and back, as Kafka's ConfigDef and Java's number parsers do it.

Knows types, not configs: which values a config may have is said by its rule.
"""

import math
import re
from typing import Final

from kafkish.config.types import Config, ConfigType, Value, refusal

_BLANKS: Final = "".join(map(chr, range(33)))
"""What Java's String.trim takes away."""
_WHITESPACE: Final = " \t\n\v\f\r"
"""What Java's regular expressions call \\s."""
_DOUBLE: Final = r"[+-]?(NaN|Infinity|(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?[fFdD]?)"
_BITS: Final = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}


def parse(config: Config, text: str) -> Value:
    """The value of a config, checked by its rule; raises ConfigError."""
    value = parse_type(config.name, text, config.type)
    if config.rule is None:
        return value
    if isinstance(value, tuple) and getattr(config.rule, "distinct", False):
        value = tuple(dict.fromkeys(value))
    config.rule(config.name, value)
    return value


def parse_type(name: str, text: str, type_: ConfigType) -> Value:
    """The value of a text by its type alone."""
    trimmed = text.strip(_BLANKS)
    if type_ in _BITS:
        return _integer(name, text, trimmed, type_)
    if type_ is ConfigType.BOOLEAN:
        return _boolean(name, text, trimmed)
    if type_ is ConfigType.DOUBLE:
        return _double(name, text, trimmed)
    if type_ is ConfigType.LIST:
        return tuple(part.strip(_WHITESPACE) for part in trimmed.split(",")) if trimmed else ()
    return trimmed


def to_text(value: Value) -> str | None:
    """A value as DescribeConfigs shows it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _double_text(value)
    if isinstance(value, tuple):
        return ",".join(value)
    return None if value is None else str(value)


def _boolean(name: str, text: str, trimmed: str) -> bool:
    if trimmed.lower() not in ("true", "false"):
        raise refusal(name, text, "Expected value to be either true or false")
    return trimmed.lower() == "true"


def _integer(name: str, text: str, trimmed: str, type_: ConfigType) -> int:
    limit = 2 ** (_BITS[type_] - 1)
    # Nineteen digits hold every legal number; more are not worth the quadratic time of int().
    digits = trimmed[1:] if trimmed[:1] in ("+", "-") else trimmed
    if digits.isdecimal() and len(digits.lstrip("0")) <= 19:
        number = int(trimmed)
        if -limit <= number < limit:
            return number
    raise refusal(name, text, f"Not a number of type {type_.name}")


def _double(name: str, text: str, trimmed: str) -> float:
    if not re.fullmatch(_DOUBLE, trimmed, re.ASCII):
        raise refusal(name, text, "Not a number of type DOUBLE")
    return float(trimmed.rstrip("fFdD"))


def _double_text(value: float) -> str:
    """Java's Double.toString: scientific below 0.001 and from ten million on."""
    if not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(value)]
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    digits = repr(value).partition("e")[0].replace(".", "").strip("-0")
    mantissa, _, exponent = f"{value:.{max(len(digits) - 1, 1)}e}".partition("e")
    return f"{mantissa}E{int(exponent)}"
