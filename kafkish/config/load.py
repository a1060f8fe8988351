"""server.properties and `--set key=value` into Settings, or into sentences that say what is wrong and where."""

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Final, NamedTuple

from kafkish.config.checks import check_broker, check_start
from kafkish.config.names import base_name, row_of
from kafkish.config.node import NodeConfigs
from kafkish.config.properties import MalformedPropertyError, parse_properties
from kafkish.config.settings import Settings, make_settings
from kafkish.config.tables import BROKER, QUOTA, TOPIC
from kafkish.config.types import ConfigError
from kafkish.config.values import parse

MAX_FILE_BYTES: Final = 1_048_576

DEFAULTS: Final = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "listeners": "PLAINTEXT://127.0.0.1:9092",
    "advertised.listeners": "auto",
    "controller.listener.names": "CONTROLLER",
    "log.dirs": "./data",
}
"""What kafkish takes for a key that is not set, where Kafka takes something else or nothing."""

ALONE: Final = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
}
"""Defaults, too, of a node that names no quorum: it has no second node, and no crowd to wait for."""

_SAME: Final = {"node.id": "broker.id", "log.dirs": "log.dir"}
"""A default that the other name replaces as well."""
_QUORUM: Final = ("controller.quorum.voters", "controller.quorum.bootstrap.servers")

_OF_PLUGINS: Final = ("super.users", "allow.everyone.if.no.acl.found")
_OF_PLUGINS_PREFIXES: Final = ("config.providers.", "metrics.context.", "metrics.jmx.", "rlmm.config.", "rsm.config.")
"""Keys that Kafka hands to what is plugged into it: accepted, never checked."""

_REMOVED: Final = (
    "advertised.host.name", "advertised.port", "auto.include.jmx.reporter", "broker.id.generation.enable",
    "control.plane.listener.name", "controlled.shutdown.max.retries", "controlled.shutdown.retry.backoff.ms",
    "delegation.token.master.key", "group.coordinator.new.enable", "host.name", "inter.broker.protocol.version",
    "leader.imbalance.per.broker.percentage", "log.message.downconversion.enable", "log.message.format.version",
    "log.message.timestamp.difference.max.ms", "offsets.commit.required.acks", "port", "reserved.broker.max.id",
)  # fmt: skip
_REMOVED_PREFIXES: Final = ("zookeeper.", "password.encoder.")


class SettingsError(Exception):
    """The settings cannot be used. The message has one line per problem, with file and line."""


class _Entry(NamedTuple):
    name: str
    value: str
    where: str


def load(path: PathLike[str] | None = None, overrides: Sequence[str] = ()) -> Settings:
    """Settings of a file, of `key=value` overrides that win over it, and of defaults for the rest."""
    entries = [*(_entries_of_file(path) if path else ()), *_entries_of_overrides(overrides)]
    problems = [f"{entry.where}: {problem}" for entry in entries if (problem := _problem(entry))]
    if problems:
        raise SettingsError("\n".join(problems))
    configs = NodeConfigs(with_defaults({entry.name: entry.value for entry in entries}))
    try:
        check_broker(configs)
        check_start(configs)
        return make_settings(configs)
    except ConfigError as error:
        raise SettingsError(f"{path or 'settings'}: {error}") from None


def with_defaults(properties: Mapping[str, str]) -> dict[str, str]:
    """Add what kafkish takes for keys that are not set."""
    alone = not any(properties.get(key, "").strip() for key in _QUORUM)
    defaults = {**DEFAULTS, **(ALONE if alone else {})}
    return {**{key: text for key, text in defaults.items() if _SAME.get(key) not in properties}, **properties}


def _entries_of_file(path: PathLike[str]) -> Iterator[_Entry]:
    """Java reads properties as Latin-1; other characters are written as \\u escapes."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None
    if len(data) > MAX_FILE_BYTES:
        raise SettingsError(f"{path}: larger than {MAX_FILE_BYTES} bytes; is it a properties file?")
    try:
        for name, value, line in parse_properties(data.decode("latin-1")):
            yield _Entry(name, value, f"{path}:{line}")
    except MalformedPropertyError as error:
        raise SettingsError(f"{path}:{error.line}: {error.reason}") from None


def _entries_of_overrides(overrides: Sequence[str]) -> Iterator[_Entry]:
    for override in overrides:
        name, equals, value = override.partition("=")
        if not equals:
            raise SettingsError(f"--set {override}: write key=value")
        yield _Entry(name.strip(), value, f"--set {name.strip()}")


def _problem(entry: _Entry) -> str | None:
    """What is wrong with a key or its value; None when nothing is."""
    row = None if entry.name in QUOTA else row_of(entry.name)
    if row is None:
        known = entry.name in _OF_PLUGINS or entry.name.startswith(_OF_PLUGINS_PREFIXES)
        return None if known else _unknown(entry.name)
    try:
        parse(row, entry.value)
    except ConfigError as error:
        return error.message
    return None


def _unknown(name: str) -> str:
    if name in QUOTA:
        return f"{name} is a dynamic config: set it with kafka-configs while the broker runs"
    if name in TOPIC:
        synonyms = TOPIC[name].synonyms
        hint = f"the default of all topics is {synonyms[0]} here" if synonyms else "set it when a topic is created"
        return f"{name} is a topic config; {hint}"
    if name in _REMOVED or name.startswith(_REMOVED_PREFIXES):
        return f"{name} is not a key of Kafka 4 any more; delete the line"
    import difflib  # noqa: PLC0415  # 5 ms that a start without mistakes does not spend

    prefix = name[: len(name) - len(base_name(name))]
    nearest = difflib.get_close_matches(base_name(name), BROKER, n=1)
    return f"unknown key {name}" + (f"; did you mean {prefix}{nearest[0]}?" if nearest else "")
