"""What a config is: its type, who may change it, where its value came from, and what is wrong with it.

Rows are named tuples: a dataclass costs a millisecond of start-up, a named tuple a tenth of that.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

from kafkish_protocol.error_codes import ErrorCode


class ConfigType(IntEnum):
    """The type of a value; the number that DescribeConfigs answers."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class ConfigSource(IntEnum):
    """Where a value came from; the number that DescribeConfigs answers."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class ResourceType(IntEnum):
    """What has configs; the number in requests and in metadata records."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class Update(IntEnum):
    """Who may change a broker config while the broker runs."""

    READ_ONLY = 0
    PER_BROKER = 1
    CLUSTER = 2
    """For one broker or for all."""


Value: TypeAlias = bool | int | float | str | tuple[str, ...] | None
Rule: TypeAlias = Callable[[str, Value], None]
"""Raises ConfigError when the named config may not have the value."""

MAX_INT: Final = 2**31 - 1
MAX_LONG: Final = 2**63 - 1


class Config(NamedTuple):
    """One row of a table."""

    name: str
    type: ConfigType
    default: Value
    """None: no value unless it is set."""
    rule: Rule | None = None
    update: Update = Update.READ_ONLY
    """Of broker configs only; topics, groups and client metrics may always be changed."""
    internal: bool = False
    """Described only when it is set."""
    synonyms: tuple[str, ...] = ()
    """Broker configs that give the default of a topic or group config; the first that is set wins."""

    @property
    def sensitive(self) -> bool:
        """Whether the value must never leave the broker."""
        return self.type is ConfigType.PASSWORD


class ConfigError(Exception):
    """A config or its value is refused; `code` and the message go into the response."""

    def __init__(self, message: str, code: ErrorCode = ErrorCode.INVALID_CONFIG) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def refusal(name: str, value: object, reason: str) -> ConfigError:
    """A refused value, in the words that Kafka's clients and tools know."""
    return ConfigError(f"Invalid value {value} for configuration {name}: {reason}")
