"""The rows of a DescribeConfigs response: every config of a resource, its value, and where the value came from."""

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from itertools import dropwhile
from typing import NamedTuple

from kafkish.config.names import broker_id, broker_synonyms, row_of
from kafkish.config.node import NodeConfigs
from kafkish.config.tables import BROKER, CLIENT_METRICS, GROUP, QUOTA, TOPIC
from kafkish.config.types import Config, ConfigError, ConfigSource, ConfigType, ResourceType, Update, Value
from kafkish.config.values import parse, to_text
from kafkish_protocol.error_codes import ErrorCode


class Synonym(NamedTuple):
    """A config that gives a value, or would give it if those before it were not there."""

    name: str
    value: str | None
    source: ConfigSource


class ConfigRow(NamedTuple):
    """One config, as a DescribeConfigs response has it."""

    name: str
    value: str | None
    """None, too, when the config is sensitive."""
    read_only: bool
    source: ConfigSource
    sensitive: bool
    synonyms: tuple[Synonym, ...]
    """The strongest first."""
    type: ConfigType

    @property
    def is_default(self) -> bool:
        """Whether nobody set it."""
        return self.source is ConfigSource.DEFAULT

    @property
    def documentation(self) -> str:
        """A sentence for a person; loaded when the first one is asked for."""
        from kafkish.config.documentation import documentation_of  # noqa: PLC0415  # large, and seldom asked for

        return documentation_of(self.name)


def describe(
    resource: ResourceType,
    name: str,
    overrides: Mapping[str, str],
    node: NodeConfigs,
    names: Collection[str] | None = None,
) -> list[ConfigRow]:
    """The rows of a resource whose own configs are `overrides`; of `names` only, if any are given.

    A broker's overrides are in `node` already; its name is the node's id, or empty for what all brokers share.
    """
    if resource is ResourceType.TOPIC:
        rows = _topic(overrides, node)
    elif resource is ResourceType.GROUP:
        _check_named("Group name", name)
        rows = _group(overrides, node)
    elif resource is ResourceType.CLIENT_METRICS:
        _check_named("Client metrics subscription name", name)
        rows = _client_metrics(overrides)
    elif resource is ResourceType.BROKER:
        rows = _broker(node) if _is_node(name, node) else _cluster(node)
    else:
        raise ConfigError(f"Unsupported resource type: {resource.name}", ErrorCode.INVALID_REQUEST)
    return [row for row in rows if not names or row.name in names]


def _check_named(what: str, name: str) -> None:
    if not name:
        raise ConfigError(f"{what} must not be empty", ErrorCode.INVALID_REQUEST)


def _is_node(name: str, node: NodeConfigs) -> bool:
    """Whether a broker's name is this node's; the empty name stands for all brokers."""
    if not name:
        return False
    if broker_id(name) is None:
        raise ConfigError(f"Broker id must be an integer, but it is: {name}", ErrorCode.INVALID_REQUEST)
    expected = node.values["node.id"]
    if broker_id(name) != expected:
        message = f"Unexpected broker id, expected {expected} or empty string, but received {name}"
        raise ConfigError(message, ErrorCode.INVALID_REQUEST)
    return True


def _topic(overrides: Mapping[str, str], node: NodeConfigs) -> Iterator[ConfigRow]:
    for name, config in TOPIC.items():
        if config.internal and name not in overrides:
            continue
        chain = _chain(config.synonyms[0], node) if config.synonyms else []
        yield _own_row(config, overrides, node.topic_defaults[name], ConfigSource.TOPIC, chain)


def _group(overrides: Mapping[str, str], node: NodeConfigs) -> Iterator[ConfigRow]:
    for name, config in GROUP.items():
        default = Synonym(name, to_text(config.default), ConfigSource.DEFAULT)
        chain = _chain(config.synonyms[0], node) if config.synonyms else [default]
        yield _own_row(config, overrides, node.group_defaults[name], ConfigSource.GROUP, chain)


def _client_metrics(overrides: Mapping[str, str]) -> Iterator[ConfigRow]:
    for config in CLIENT_METRICS.values():
        yield _own_row(config, overrides, config.default, ConfigSource.CLIENT_METRICS, [])


def _own_row(
    config: Config, overrides: Mapping[str, str], default: Value, source: ConfigSource, chain: list[Synonym]
) -> ConfigRow:
    """The row of a config that its resource may override."""
    name, value = config.name, to_text(default)
    if name in overrides:
        value = to_text(parse(config, overrides[name]))
        chain = [Synonym(name, value, source), *chain]
    return ConfigRow(name, value, False, _source(chain), config.sensitive, tuple(chain), config.type)


def _broker(node: NodeConfigs) -> Iterator[ConfigRow]:
    """Every config of this broker, and every other one that someone set."""
    for name, config in BROKER.items():
        if not config.internal:
            yield _broker_row(name, to_text(node.values[name]), _chain(name, node))
    for name, text in node.effective.items():
        if name not in BROKER or BROKER[name].internal:
            yield _broker_row(name, text, _chain(name, node))


def _cluster(node: NodeConfigs) -> Iterator[ConfigRow]:
    """What is set for all brokers."""
    for name, text in node.cluster.items():
        chain = [each for each in _chain(name, node) if each.source is ConfigSource.DYNAMIC_DEFAULT_BROKER]
        yield _broker_row(name, text, chain)


def _broker_row(name: str, text: str | None, chain: list[Synonym]) -> ConfigRow:
    """A config that nobody knows may be a secret."""
    config = row_of(name)
    sensitive = config is None or config.sensitive
    type_ = ConfigType.UNKNOWN if config is None else config.type
    exact = BROKER.get(name) or QUOTA.get(name)
    read_only = exact is None or exact.update is Update.READ_ONLY
    return ConfigRow(name, None if sensitive else text, read_only, _source(chain), sensitive, tuple(chain), type_)


def _chain(name: str, node: NodeConfigs) -> list[Synonym]:
    """What a broker config could be, the strongest first.

    Kafka drops what comes before the first mention of the name itself, so `retention.ms` has no synonyms while only
    `log.retention.hours` is set. Tools show what Kafka shows; this does the same.
    """
    config = row_of(name)
    sensitive = config is None or config.sensitive
    layers = (
        (node.own, ConfigSource.DYNAMIC_BROKER),
        (node.cluster, ConfigSource.DYNAMIC_DEFAULT_BROKER),
        (node.static, ConfigSource.STATIC_BROKER),
        (_default_texts(), ConfigSource.DEFAULT),
    )
    found = (
        Synonym(synonym, None if sensitive else layer[synonym], source)
        for layer, source in layers
        for synonym in broker_synonyms(name)
        if synonym in layer
    )
    return list(dropwhile(lambda synonym: synonym.name != name, found))


@cache
def _default_texts() -> dict[str, str]:
    texts = ((name, to_text(config.default)) for name, config in BROKER.items())
    return {name: text for name, text in texts if text is not None}


def _source(chain: list[Synonym]) -> ConfigSource:
    return chain[0].source if chain else ConfigSource.DEFAULT
