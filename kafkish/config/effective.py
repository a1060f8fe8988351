"""What the configs of a topic or a group amount to: Python values under Kafka's names in snake_case."""

from collections.abc import Mapping
from typing import Any

from kafkish.config.checks import BOUNDED
from kafkish.config.node import NodeConfigs
from kafkish.config.tables import GROUP, TOPIC
from kafkish.config.types import Config, Value
from kafkish.config.values import parse


def topic_values(overrides: Mapping[str, str], node: NodeConfigs) -> dict[str, Any]:
    """What a topic's logs go by: `{"segment_bytes": 1073741824, "cleanup_policy": ("delete",), ...}`.

    `internal.segment.bytes` has replaced `segment_bytes`, and a local retention of -2 the retention that it stands for.
    """
    values = _merged(TOPIC, overrides, node.topic_defaults)
    internal_segment_bytes = values.pop("internal.segment.bytes")
    if internal_segment_bytes is not None:
        values["segment.bytes"] = internal_segment_bytes
    for unit in ("ms", "bytes"):
        if values[f"local.retention.{unit}"] == -2:
            values[f"local.retention.{unit}"] = values[f"retention.{unit}"]
    return _snake_case(values)


def group_values(overrides: Mapping[str, str], node: NodeConfigs) -> dict[str, Any]:
    """What a group goes by: `{"consumer_session_timeout_ms": 45000, ...}`.

    The broker's bounds may have been narrowed since a group's config was set: the value is moved between them.
    """
    values = _merged(GROUP, overrides, node.group_defaults)
    for prefix, name in BOUNDED:
        own = f"{prefix}{name}".removeprefix("group.")
        values[own] = _clamp(values[own], node.number(f"{prefix}min.{name}"), node.number(f"{prefix}max.{name}"))
    standby = "streams.num.standby.replicas"
    values[standby] = _clamp(values[standby], 0, node.number("group.streams.max.standby.replicas"))
    return _snake_case(values)


def _clamp(value: Value, minimum: float, maximum: float) -> float:
    assert isinstance(value, int)
    return max(minimum, min(value, maximum))


def _merged(
    table: Mapping[str, Config], overrides: Mapping[str, str], defaults: Mapping[str, Value]
) -> dict[str, Value]:
    return {**defaults, **{name: parse(table[name], text) for name, text in overrides.items() if name in table}}


def _snake_case(values: Mapping[str, Value]) -> dict[str, Any]:
    return {name.replace(".", "_"): value for name, value in values.items()}
