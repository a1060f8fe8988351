"""Whether a resource may have the configs that someone wants it to have, as Kafka's controller decides it.

Every function takes the whole new set of a resource's own configs and raises ConfigError.
"""

import re
from collections.abc import Mapping
from typing import Final

from kafkish.config.checks import BOUNDED, check_broker
from kafkish.config.dynamic import check_dynamic, check_scope
from kafkish.config.names import broker_id, row_of
from kafkish.config.node import NodeConfigs
from kafkish.config.tables import CLIENT_METRICS, GROUP, TOPIC
from kafkish.config.topic_checks import check_local_retention, check_topic
from kafkish.config.topic_names import why_invalid
from kafkish.config.types import Config, ConfigError, ResourceType, Value
from kafkish.config.values import parse
from kafkish_protocol.error_codes import ErrorCode

_MATCHABLE: Final = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)
_POOLS: Final = (
    "num.io.threads", "num.replica.fetchers", "num.recovery.threads.per.data.dir", "background.threads",
    "num.network.threads", "log.cleaner.threads", "remote.log.reader.threads",
    "remote.log.manager.copier.thread.pool.size", "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.follower.thread.pool.size",
)  # fmt: skip
"""Numbers of threads: a change may halve or double them at most."""
_POSITIVE: Final = ("max.connections", "max.connection.creation.rate")
"""May be 0 in server.properties, and not thereafter."""


def validate(
    resource: ResourceType,
    name: str,
    new: Mapping[str, str | None],
    old: Mapping[str, str],
    node: NodeConfigs,
) -> None:
    """Raise what is wrong with the configs `new` of a resource that had `old`."""
    if resource is ResourceType.TOPIC:
        _check_named(name, "Default topic resources are not allowed.")
        if (reason := why_invalid(name)) is not None:
            raise ConfigError(f"Topic name is invalid: {reason}", ErrorCode.INVALID_TOPIC_EXCEPTION)
        validate_topic(without_nulls(new, "topic"), old, node)
    elif resource is ResourceType.GROUP:
        _check_named(name, "Default group resources are not allowed.")
        validate_group(without_nulls(new, "group"), node)
    elif resource is ResourceType.CLIENT_METRICS:
        _check_named(name, "Subscription name can't be empty")
        validate_client_metrics(without_nulls(new, "client metrics"))
    elif resource is ResourceType.BROKER:
        validate_broker(name, without_nulls(new, "broker"), node)
    else:
        raise ConfigError(f"Unknown resource type {resource.name}", ErrorCode.INVALID_REQUEST)


def validate_topic(new: Mapping[str, str], old: Mapping[str, str], node: NodeConfigs) -> None:
    """The configs of a topic; `old` is empty for one that is being created."""
    check_topic(_parsed("Unknown topic config name: {}", new, TOPIC, node.topic_defaults), old, node)


def validate_group(new: Mapping[str, str], node: NodeConfigs) -> None:
    """The configs of a group, between the bounds of the broker."""
    values = _parsed("Unknown group config name: {}", new, GROUP, node.group_defaults)
    for prefix, last in BOUNDED:
        own, least, most = f"{prefix}{last}".removeprefix("group."), f"{prefix}min.{last}", f"{prefix}max.{last}"
        if _number(values[own]) < node.number(least):
            raise ConfigError(f"{own} must be greater than or equal to {least}")
        if _number(values[own]) > node.number(most):
            raise ConfigError(f"{own} must be less than or equal to {most}")
    standby, most = "streams.num.standby.replicas", "group.streams.max.standby.replicas"
    if _number(values[standby]) > node.number(most):
        raise ConfigError(f"{standby} must be less than or equal to {most}")
    for kind in ("consumer", "share", "streams"):
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        if _number(values[session]) <= _number(values[heartbeat]):
            raise ConfigError(f"{session} must be greater than {heartbeat}")


def validate_client_metrics(new: Mapping[str, str]) -> None:
    """A subscription to clients' metrics (KIP-714)."""
    invalid = ErrorCode.INVALID_REQUEST
    values = _parsed("Unknown client metrics configuration: {}", new, CLIENT_METRICS, {}, invalid)
    interval_ms = values.get("interval.ms", 100)
    if not 100 <= _number(interval_ms) <= 3_600_000:
        reason = "interval must be between 100 and 3600000 (1 hour)"
        raise ConfigError(f"Invalid value {interval_ms} for interval.ms, {reason}", invalid)
    patterns = values.get("match")
    for pattern in patterns if isinstance(patterns, tuple) else ():
        name, _, expression = pattern.partition("=")
        if name.strip() not in _MATCHABLE or "=" in expression or not _compiles(expression.strip()):
            raise ConfigError(f"Illegal client matching pattern: {pattern}")


def validate_broker(name: str, new: Mapping[str, str], node: NodeConfigs) -> None:
    """Dynamic configs of this broker, or of all brokers when the name is empty."""
    try:
        check_broker_name(name, node)
        check_dynamic(new)
        for key, text in new.items():
            row = row_of(key)
            if row is not None:
                parse(row, text)
        check_scope(new, per_broker=name != "")
        changed = NodeConfigs(node.static, node.cluster if name else new, new if name else node.own)
        check_broker(changed)
        _check_sizes(changed, node)
        log_values = {f"log.{key}": value for key, value in changed.topic_defaults.items()}
        for unit in ("ms", "bytes"):
            check_local_retention(log_values, f"log.local.retention.{unit}", f"log.retention.{unit}")
    except ConfigError as error:
        raise ConfigError(error.message, ErrorCode.INVALID_REQUEST) from None


def without_nulls(configs: Mapping[str, str | None], kind: str) -> dict[str, str]:
    """The configs, if each has a value."""
    nulls = [name for name, text in configs.items() if text is None]
    if nulls:
        raise ConfigError(f"Null value not supported for {kind} configs: {','.join(nulls)}")
    return {name: text for name, text in configs.items() if text is not None}


def _check_named(name: str, message: str) -> None:
    if not name:
        raise ConfigError(message, ErrorCode.INVALID_REQUEST)


def _parsed(
    unknown: str,
    new: Mapping[str, str],
    table: Mapping[str, Config],
    defaults: Mapping[str, Value],
    code: ErrorCode = ErrorCode.INVALID_CONFIG,
) -> dict[str, Value]:
    for name in new:
        if name not in table:
            raise ConfigError(unknown.format(name), code)
    return {**defaults, **{name: parse(table[name], text) for name, text in new.items()}}


def check_broker_name(name: str, node: NodeConfigs) -> None:
    """Raise if a broker's configs are another's affair, or nobody's."""
    if name and broker_id(name) is None:
        raise ConfigError(f"Node id must be an integer, but it is: {name}", ErrorCode.INVALID_REQUEST)
    if name and broker_id(name) != node.values["node.id"]:
        reason = f"Unexpected broker id, expected {node.values['node.id']}, but received {name}"
        raise ConfigError(reason, ErrorCode.INVALID_REQUEST)


def _check_sizes(changed: NodeConfigs, node: NodeConfigs) -> None:
    for name in _POSITIVE:
        if changed.number(name) <= 0:
            raise ConfigError(f"Invalid {name} {changed.values[name]}")
    for name in _POOLS:
        threads, before = changed.number(name), int(node.number(name))
        failed = f"Dynamic thread count update validation failed for {name}={threads}"
        if threads < before // 2:
            raise ConfigError(f"{failed}, value should be at least half the current value {before}")
        if threads > before * 2:
            raise ConfigError(f"{failed}, value should not be greater than double the current value {before}")


def _compiles(expression: str) -> bool:
    try:
        re.compile(expression)
    except re.error:
        return False
    return expression != ""


def _number(value: Value) -> float:
    assert isinstance(value, int | float)
    return value
