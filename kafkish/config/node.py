"""The configs of one broker in their layers, and what they amount to.

A layer is a map of texts, as in server.properties or in the metadata. From the strongest to the weakest:
this broker's own dynamic configs, those of all brokers, server.properties, defaults.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from kafkish.config.dynamic import check_dynamic, check_scope
from kafkish.config.names import row_of, same_config, with_node_id
from kafkish.config.tables import BROKER, GROUP, TOPIC
from kafkish.config.types import Config, ConfigError, Value
from kafkish.config.values import parse

_MS_PER: Final = {"hours": 3_600_000, "minutes": 60_000}


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
                for synonym in same_config(name):
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


def _usable(layer: Mapping[str, str], per_broker: bool) -> Iterator[tuple[str, str]]:
    """Stored configs that cannot hold are passed over, as Kafka does: a broker must start in spite of them."""
    for name, text in layer.items():
        row = row_of(name)
        try:
            check_dynamic([name])
            if row is not None:
                parse(row, text)
            check_scope([name], per_broker=per_broker)
        except ConfigError:
            continue
        yield name, text
