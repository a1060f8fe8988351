"""What values a config may have. A rule takes the config's name and its parsed value, and raises ConfigError."""

import re
from typing import Final

from kafkish.config.types import ConfigError, Rule, Value, refusal
from kafkish.config.values import to_text

# Patterns are compiled where they are first used: compiling costs more than reading all the tables.
_REPLICA: Final = r"([0-9]+:[0-9]+)?"
_HOST_AND_PORT: Final = r"(?:[0-9a-zA-Z\-%._]*://)?\[?([0-9a-zA-Z\-%._:]*)]?:([0-9]{1,5})"
_DURATION: Final = (
    r"([-+]?)P(?:([-+]?\d{1,18})D)?"
    r"(T(?:([-+]?\d{1,18})H)?(?:([-+]?\d{1,18})M)?(?:([-+]?\d{1,18}(?:[.,]\d{0,9})?)S)?)?"
)


def at_least(minimum: float) -> Rule:
    """No smaller than `minimum`."""

    def check(name: str, value: Value) -> None:
        if isinstance(value, int | float) and value < minimum:
            raise refusal(name, to_text(value), f"Value must be at least {minimum}")

    return check


def between(minimum: float, maximum: float) -> Rule:
    """Both ends included."""
    check_minimum = at_least(minimum)

    def check(name: str, value: Value) -> None:
        check_minimum(name, value)
        if isinstance(value, int | float) and value > maximum:
            raise refusal(name, to_text(value), f"Value must be no more than {maximum}")

    return check


def one_of(*allowed: str) -> Rule:
    """One of these strings, written exactly so."""

    def check(name: str, value: Value) -> None:
        if value not in allowed:
            raise refusal(name, value, f"String must be one of: {', '.join(allowed)}")

    return check


def one_of_any_case(*allowed: str) -> Rule:
    """One of these strings (given in capitals), in any case."""

    def check(name: str, value: Value) -> None:
        if str(value).upper() not in allowed:
            raise refusal(name, value, f"String must be one of (case insensitive): {', '.join(allowed)}")

    return check


compression_type: Final = one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
timestamp_type: Final = one_of("CreateTime", "LogAppendTime")


class ListRule:
    """A list without empty elements. Duplicates are dropped before the rule is asked (KIP-1161)."""

    distinct = True

    def __init__(self, allowed: tuple[str, ...], may_be_empty: bool) -> None:
        """`allowed` empty: any string."""
        self.allowed = allowed
        self.may_be_empty = may_be_empty

    def __call__(self, name: str, value: Value) -> None:
        elements = value if isinstance(value, tuple) else ()
        if not elements and not self.may_be_empty:
            valid = f"[{', '.join(self.allowed)}]" if self.allowed else "any non-empty value"
            raise ConfigError(f"Configuration '{name}' must not be empty. Valid values include: {valid}")
        for element in elements:
            if not element:
                raise ConfigError(f"Configuration '{name}' values must not be empty.")
            if self.allowed:
                one_of(*self.allowed)(name, element)


def list_of(*allowed: str) -> Rule:
    """A list of these strings, or of any; it may be empty."""
    return ListRule(allowed, may_be_empty=True)


def filled_list_of(*allowed: str) -> Rule:
    """A list of these strings, or of any; it may not be empty."""
    return ListRule(allowed, may_be_empty=False)


def loadable(*classes: str) -> Rule:
    """One of Kafka's own classes, which kafkish knows by name. Other Java classes cannot be loaded here."""

    def check(name: str, value: Value) -> None:
        if value not in classes:
            raise refusal(name, value, f"Class {value} could not be found.")

    return check


def not_empty(name: str, value: Value) -> None:
    """A string of at least one character."""
    if value == "":
        raise refusal(name, value, "String must be non-empty")


def gzip_level(name: str, value: Value) -> None:
    """1 to 9, or -1 for the codec's own choice."""
    if isinstance(value, int) and value != -1 and not 1 <= value <= 9:
        raise refusal(name, value, "Value must be between 1 and 9 or equal to -1")


def codec_id(name: str, value: Value) -> None:
    """The number that a batch's header has for a codec: none, gzip, snappy, lz4, zstd."""
    if value not in range(5):
        raise refusal(name, value, f"Unknown compression type id: {value}")


def throttled_replicas(name: str, value: Value) -> None:
    """Partition:broker pairs, or * for all."""
    elements = value if isinstance(value, tuple) else ()
    if "".join(elements) != "*" and not all(re.fullmatch(_REPLICA, element) for element in elements):
        form = "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
        reason = f"{name} must be the literal '*' or a list of replicas in the following format: {form}"
        raise refusal(name, f"[{', '.join(elements)}]", reason)


def share_offset_reset(name: str, value: Value) -> None:
    """Where a share group starts reading (KIP-932, KIP-1106)."""
    text = str(value)
    if text in ("earliest", "latest") or (text.startswith("by_duration:") and _is_duration(text[12:])):
        return
    forms = "The value must be either 'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'."
    raise refusal(name, value, f"Invalid value `{value}` for configuration {name}. {forms}")


def host_and_port(text: str) -> tuple[str, int] | None:
    """Read `host:port`, with brackets around an IPv6 host; None if it is neither."""
    match = re.fullmatch(_HOST_AND_PORT, text)
    return (match[1], int(match[2])) if match else None


def voters(name: str, value: Value) -> None:
    """A list of id@host:port."""
    for entry in value if isinstance(value, tuple) else ():
        voter_id, _, address = entry.partition("@")
        if not re.fullmatch("[0-9]{1,9}", voter_id) or host_and_port(address) is None:
            raise ConfigError(f"Invalid entry {entry} for configuration {name}. Write {{id}}@{{host}}:{{port}}.")


def addresses(name: str, value: Value) -> None:
    """A list of host:port."""
    for entry in value if isinstance(value, tuple) else ():
        if host_and_port(entry) is None:
            raise ConfigError(f"Invalid entry {entry} for configuration {name}. Write {{host}}:{{port}}.")


def _is_duration(text: str) -> bool:
    """Whether Java's Duration.parse takes the text, and it is not negative."""
    match = re.fullmatch(_DURATION, text, re.IGNORECASE | re.ASCII)
    if not match or match[3] in ("T", "t") or not any(match.group(2, 4, 5, 6)):
        return False
    days, hours, minutes, seconds = (float((part or "0").replace(",", ".")) for part in match.group(2, 4, 5, 6))
    total_s = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return total_s <= 0 if match[1] == "-" else total_s >= 0
