"""IncrementalAlterConfigs and AlterConfigs as pure functions: the configs of a resource and a request, into changes.

A change is a name with its new text, or with None when the config goes away: a record of the metadata log.
Who may ask, and whether the resource exists, is for others to say.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from kafkish.config.node import NodeConfigs
from kafkish.config.tables import BROKER, TOPIC
from kafkish.config.types import ConfigError, ConfigType, ResourceType
from kafkish.config.validate import check_broker_name, validate
from kafkish.config.values import to_text
from kafkish_protocol.error_codes import ErrorCode

MAX_VALUE_LENGTH: Final = 32_767
_WITH_LISTS: Final = {ResourceType.TOPIC: TOPIC, ResourceType.BROKER: BROKER}
"""Kafka's controller knows no types of group and client metrics configs, and refuses to append to any of them."""


class OperationType(IntEnum):
    """What to do with a config; the number in the request."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Operation(NamedTuple):
    """One config of an IncrementalAlterConfigs request."""

    name: str
    type: int
    """An OperationType, or a number that is none."""
    value: str | None


def alter_incrementally(
    resource: ResourceType,
    name: str,
    current: Mapping[str, str],
    operations: Sequence[Operation],
    node: NodeConfigs,
) -> dict[str, str | None]:
    """The changes that the operations make to the configs `current` of a resource; raises ConfigError."""
    check_request(operations)
    if resource is ResourceType.BROKER:
        check_broker_name(name, node)
    asked = {each.name: _new_value(resource, current.get(each.name), each) for each in operations}
    return _checked(resource, name, current, asked, node)


def alter_all(
    resource: ResourceType,
    name: str,
    current: Mapping[str, str],
    configs: Sequence[tuple[str, str | None]],
    node: NodeConfigs,
) -> dict[str, str | None]:
    """The changes that make `configs` the only ones of a resource (AlterConfigs); raises ConfigError."""
    check_request([Operation(key, OperationType.SET, value) for key, value in configs])
    asked: dict[str, str | None] = {**dict.fromkeys(current), **dict(configs)}
    return _checked(resource, name, current, asked, node)


def check_min_insync_replicas(resource: ResourceType, name: str, changes: Mapping[str, str | None]) -> None:
    """With eligible leader replicas (KIP-966), this is one number for all brokers, and always there."""
    key = "min.insync.replicas"
    if resource is ResourceType.BROKER and key in changes:
        if name:
            raise ConfigError(f"Broker-level {key} cannot be altered while ELR is enabled.")
        if changes[key] is None:
            raise ConfigError(f"Cluster-level {key} cannot be removed while ELR is enabled.")


def apply_changes(current: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """The configs of a resource after changes."""
    merged = {**current, **changes}
    return {name: text for name, text in merged.items() if text is not None}


def check_request(operations: Sequence[Operation]) -> None:
    """Refuse what is wrong whatever the resource is."""
    if len({operation.name for operation in operations}) < len(operations):
        raise ConfigError("Error due to duplicate config keys", ErrorCode.INVALID_REQUEST)
    nulls = [each.name for each in operations if each.value is None and each.type != OperationType.DELETE]
    if nulls:
        raise ConfigError(f"Null value not supported for : {', '.join(nulls)}", ErrorCode.INVALID_REQUEST)


def _checked(
    resource: ResourceType,
    name: str,
    current: Mapping[str, str],
    asked: Mapping[str, str | None],
    node: NodeConfigs,
) -> dict[str, str | None]:
    """A broker's configs are written even when they stay the same: that makes it read its key files again."""
    if any(text is not None and len(text) > MAX_VALUE_LENGTH for text in asked.values()):
        limit = f"it exceeds the maximum value size of {MAX_VALUE_LENGTH} bytes."
        raise ConfigError(f"The configuration value cannot be added because {limit}")
    validate(resource, name, apply_changes(current, asked), current, node)
    always = resource is ResourceType.BROKER
    return {key: text for key, text in asked.items() if always or text != current.get(key)}


def _new_value(resource: ResourceType, current: str | None, operation: Operation) -> str | None:
    if operation.type not in list(OperationType):
        raise ConfigError(f"Unknown operations type {operation.type}", ErrorCode.INVALID_REQUEST)
    if operation.type == OperationType.DELETE:
        return None
    if operation.type == OperationType.SET or operation.value is None:
        return operation.value
    verb = OperationType(operation.type).name
    row = _WITH_LISTS.get(resource, {}).get(operation.name)
    if row is None or row.type is not ConfigType.LIST:
        raise _not_a_list(resource, operation.name, verb)
    before = to_text(row.default) if current is None else current
    elements = [part for part in (before or "").split(",") if part]
    change = _appended if operation.type == OperationType.APPEND else _subtracted
    return ",".join(change(elements, _split(operation.value)))


def _appended(elements: list[str], parts: list[str]) -> list[str]:
    there = set(elements)
    return [*elements, *(part for part in dict.fromkeys(parts) if part not in there)]


def _subtracted(elements: list[str], parts: list[str]) -> Iterator[str]:
    """Each part takes one element away, the first that is like it."""
    left = Counter(parts)
    for element in elements:
        if left[element] > 0:
            left[element] -= 1
        else:
            yield element


def _not_a_list(resource: ResourceType, name: str, verb: str) -> ConfigError:
    """Kafka's broker and Kafka's controller say it differently."""
    if resource is not ResourceType.BROKER:
        return ConfigError(f"Can't {verb} to key {name} because its type is not LIST.")
    if name not in BROKER:
        return ConfigError(f"Unknown config name: {name}")
    return ConfigError(f"Config value {verb.lower()} is not allowed for config key: {name}")


def _split(text: str) -> list[str]:
    """Java's split: no empty parts at the end, but an empty text is one empty part."""
    parts = text.split(",")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts if parts != [""] or not text else []
