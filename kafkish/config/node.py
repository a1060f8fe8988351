"""The configs of one broker in their layers, and what they amount to.

A layer is a map of texts, as in server.properties or in the metadata. From the strongest to the weakest:
this broker's own dynamic configs, those of all brokers, server.properties, defaults.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from kafkish.config.tables import BROKER, GROUP, QUOTA, TOPIC
from kafkish.config.types import Config, ConfigError, Update, Value
from kafkish.config.values import parse

_TOGETHER: Final = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
"""Broker configs that say the same in different units."""
_FLUSH: Final = ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")
_MS_PER: Final = {"hours": 3_600_000, "minutes": 60_000}
_OF_MECHANISM: Final = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
"""Written listener.name.{listener}.{mechanism}.{config}."""


class NodeConfigs:
    """Immutable: a change of a layer makes a new one."""

    def __init__(
        self,
        static: Mapping[str, str],
        cluster: Mapping[str, str] | None = None,
        own: Mapping[str, str] | None = None,
    ) -> None:
        """`static` is server.properties; `cluster` are dynamic configs of all brokers, `own` of this one."""
        self.static: Mapping[str, str] = with_node_id(static)
        self.cluster: Mapping[str, str] = dict(_usable(cluster or {}, per_broker=False))
        self.own: Mapping[str, str] = dict(_usable(own or {}, per_broker=True))

    @cached_property
    def effective(self) -> dict[str, str]:
        """The texts that hold, of configs that someone set."""
        merged = dict(self.static)
        for layer in (self.cluster, self.own):
            for name, text in layer.items():
                for synonym in broker_synonyms(name):
                    merged.pop(synonym, None)
                merged[name] = text
        return merged

    @cached_property
    def values(self) -> dict[str, Value]:
        """The values that hold, of every broker config."""
        texts = self.effective
        return {name: parse(row, texts[name]) if name in texts else row.default for name, row in BROKER.items()}

    @cached_property
    def topic_defaults(self) -> dict[str, Value]:
        """The values of topic configs for a topic that sets none."""
        return {name: self._first(row) for name, row in TOPIC.items()}

    @cached_property
    def group_defaults(self) -> dict[str, Value]:
        """The values of group configs for a group that sets none."""
        return {name: self._first(row) for name, row in GROUP.items()}

    def number(self, name: str) -> float:
        """The value of a config that is a number."""
        value = self.values[name]
        assert isinstance(value, int | float), name
        return value

    def text(self, name: str) -> str:
        """The value of a config that is a string; empty when there is none."""
        value = self.values[name]
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> tuple[str, ...]:
        """The value of a config that is a list; empty when there is none."""
        value = self.values[name]
        return value if isinstance(value, tuple) else ()

    def _first(self, row: Config) -> Value:
        """The value of the first synonym that has one, in the unit of the row."""
        for synonym in row.synonyms:
            value = self.values[synonym]
            if value is None:
                continue
            factor = _MS_PER.get(synonym.rpartition(".")[2], 1)
            number = value * factor if isinstance(value, int) and factor > 1 else value
            unlimited = row.name == "retention.ms" and isinstance(number, int) and number < 0
            return -1 if unlimited else number
        return row.default


def with_node_id(static: Mapping[str, str]) -> dict[str, str]:
    """node.id and broker.id are two names of one thing."""
    twins = {"node.id": "broker.id", "broker.id": "node.id"}
    return {**{twin: static[name] for name, twin in twins.items() if name in static}, **static}


def broker_synonyms(name: str) -> tuple[str, ...]:
    """Names under which a broker config may have been set; the first that is set wins."""
    for together in _TOGETHER:
        if name in together:
            return together
    if name == _FLUSH[0]:
        return _FLUSH
    base = base_name(name)
    return (name,) if base == name else (name, base)


def base_name(name: str) -> str:
    """The config that a listener's own config replaces: `listener.name.{listener}.{config}`."""
    match = re.fullmatch(r"listener\.name\.[^.]*\.(.*)", name) if name.startswith("listener.name.") else None
    if match is None:
        return name
    return next((config for config in _OF_MECHANISM if match[1].endswith(config)), match[1])


def row_of(name: str) -> Config | None:
    """The row of a broker config, of a listener's own config, or of a quota; None for an unknown name."""
    return BROKER.get(name) or QUOTA.get(name) or BROKER.get(base_name(name))


def _usable(layer: Mapping[str, str], per_broker: bool) -> Iterator[tuple[str, str]]:
    """Stored configs that cannot hold are passed over, as Kafka does: a broker must start in spite of them."""
    for name, text in layer.items():
        row = row_of(name)
        if name in BROKER and BROKER[name].update is Update.READ_ONLY:
            continue
        if name in BROKER and BROKER[name].update is Update.PER_BROKER and not per_broker:
            continue
        try:
            if row is not None:
                parse(row, text)
        except ConfigError:
            continue
        yield name, text
