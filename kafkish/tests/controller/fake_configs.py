"""A config port for tests: a few of Kafka's configs, and no more rules than tests look at."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kafkish.controller.operation import ApiError
from kafkish.controller.ports import ConfigChange
from kafkish.metadata.image import ALL_BROKERS, ConfigResource, Configs
from kafkish_protocol.error_codes import ErrorCode

LISTS = {"cleanup.policy": "delete"}
NUMBERS = {"min.insync.replicas": "1", "retention.ms": "604800000", "segment.bytes": "1073741824"}
OTHERS = {"unclean.leader.election.enable": "false"}
TOPIC_DEFAULTS = {**LISTS, **NUMBERS, **OTHERS}
BROKER_CONFIGS = {**TOPIC_DEFAULTS, "cordoned.log.dirs": ""}


class Row(NamedTuple):
    name: str
    value: str | None
    source: int
    sensitive: bool = False
    read_only: bool = False


class FakeConfigs:
    static_min_isr = 1

    def alter(
        self, configs: Configs, resource: ConfigResource, changes: Sequence[ConfigChange]
    ) -> Mapping[str, str | None]:
        present = configs.get(resource, {})
        wanted = {change.name: self.changed(present.get(change.name), change) for change in changes}
        return self.checked(resource, present, wanted)

    def replace(
        self, configs: Configs, resource: ConfigResource, values: Sequence[tuple[str, str | None]]
    ) -> Mapping[str, str | None]:
        present = configs.get(resource, {})
        return self.checked(resource, present, {**dict.fromkeys(present), **dict(values)})

    def changed(self, present: str | None, change: ConfigChange) -> str | None:
        if change.type < 2:
            return None if change.type == 1 else change.value
        if change.name not in LISTS:
            verb = "APPEND" if change.type == 2 else "SUBTRACT"
            message = f"Can't {verb} to key {change.name} because its type is not LIST."
            raise ApiError(ErrorCode.INVALID_CONFIG, message)
        parts = (present or LISTS[change.name]).split(",")
        named = (change.value or "").split(",")
        rest = [part for part in parts if change.type == 2 or part not in named]
        return ",".join([*rest, *(part for part in named if change.type == 2 and part not in parts)])

    def checked(
        self, resource: ConfigResource, present: Mapping[str, str], wanted: Mapping[str, str | None]
    ) -> Mapping[str, str | None]:
        for name, value in wanted.items():
            if name not in BROKER_CONFIGS:
                raise ApiError(ErrorCode.INVALID_CONFIG, f"Unknown topic config name: {name}")
            if name in NUMBERS and value is not None and not value.lstrip("-").isdigit():
                message = f"Invalid value {value} for configuration {name}: Not a number of type LONG"
                raise ApiError(ErrorCode.INVALID_CONFIG, message)
        return {name: value for name, value in wanted.items() if resource.type == 4 or value != present.get(name)}

    def topic_value(self, configs: Configs, topic: str, name: str) -> str:
        layers = (ConfigResource(2, topic), ALL_BROKERS)
        return next((configs[it][name] for it in layers if name in configs.get(it, {})), TOPIC_DEFAULTS[name])

    def describe_topic(self, configs: Configs, own: Mapping[str, str]) -> Sequence[Row]:
        shared = configs.get(ALL_BROKERS, {})
        layers = [(own, 1), (shared, 3), (TOPIC_DEFAULTS, 5)]
        found = {name: next(layer for layer in layers if name in layer[0]) for name in TOPIC_DEFAULTS}
        return [Row(name, values[name], source) for name, (values, source) in found.items()]
