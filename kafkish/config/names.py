"""Names of broker configs: which are the same thing, and which row of the tables a name belongs to."""

import re
from collections.abc import Mapping
from typing import Final

from kafkish.config.tables import BROKER, QUOTA
from kafkish.config.types import Config, ConfigError, ConfigType
from kafkish.config.values import parse_type

_TOGETHER: Final = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
"""Broker configs that say the same in different units."""
_FLUSH: Final = ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")
_OF_MECHANISM: Final = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
"""Written listener.name.{listener}.{mechanism}.{config}."""


def same_config(name: str) -> tuple[str, ...]:
    """Names of what a config says, the strongest first."""
    for together in _TOGETHER:
        if name in together:
            return together
    return _FLUSH if name == _FLUSH[0] else (name,)


def broker_synonyms(name: str) -> tuple[str, ...]:
    """`same_config`, and for a listener's own config the one that it replaces."""
    base = base_name(name)
    return same_config(name) if base == name else (name, base)


def base_name(name: str) -> str:
    """The config that a listener's own config replaces: `listener.name.{listener}.{config}`."""
    match = re.fullmatch(r"listener\.name\.[^.]*\.(.*)", name) if name.startswith("listener.name.") else None
    if match is None:
        return name
    return next((config for config in _OF_MECHANISM if match[1].endswith(config)), match[1])


def row_of(name: str) -> Config | None:
    """The row of a broker config, of a listener's own config, or of a quota; None for an unknown name."""
    return BROKER.get(name) or QUOTA.get(name) or BROKER.get(base_name(name))


def with_node_id(static: Mapping[str, str]) -> dict[str, str]:
    """node.id and broker.id are two names of one thing."""
    twins = {"node.id": "broker.id", "broker.id": "node.id"}
    return {**{twin: static[name] for name, twin in twins.items() if name in static}, **static}


def broker_id(resource_name: str) -> int | None:
    """The number that names a broker; None when it is none."""
    try:
        number = parse_type("", resource_name, ConfigType.INT)
    except ConfigError:
        return None
    return number if isinstance(number, int) else None
