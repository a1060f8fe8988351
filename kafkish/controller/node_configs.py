"""The configs that operations need, from `kafkish.config`: a `ConfigPort` of a node that is broker and controller."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from kafkish.config.alter import Operation, alter_all, alter_incrementally
from kafkish.config.describe import ConfigRow, describe
from kafkish.config.node import NodeConfigs
from kafkish.config.types import ConfigError, ResourceType
from kafkish.config.values import to_text
from kafkish.controller.config_checks import MIN_ISR
from kafkish.controller.operation import ApiError
from kafkish.controller.ports import ConfigChange
from kafkish.metadata.image import ALL_BROKERS, ConfigResource, Configs

_NOTHING: Final[Mapping[str, str]] = {}


class NodeConfigPort:
    """A node's own `server.properties` under what an image says was set for all brokers, this one, and topics."""

    def __init__(self, static: Mapping[str, str]) -> None:
        """`static` is server.properties."""
        self._node = NodeConfigs(static)
        self._itself = ConfigResource(ResourceType.BROKER, str(self._node.values["node.id"]))
        self._layers = (_NOTHING, _NOTHING)
        self._plain_rows: list[ConfigRow] | None = None  # of a topic with no configs of its own: most topics
        self.static_min_isr = int(self._node.number(MIN_ISR))
        """`min.insync.replicas` of server.properties, or its default."""

    def alter(
        self, configs: Configs, resource: ConfigResource, changes: Sequence[ConfigChange]
    ) -> Mapping[str, str | None]:
        """What IncrementalAlterConfigs makes of a resource."""
        kind, current = ResourceType(resource.type), configs.get(resource, _NOTHING)
        operations = [Operation(*change) for change in changes]
        with _refusals():
            return alter_incrementally(kind, resource.name, current, operations, self.node(configs))

    def replace(
        self, configs: Configs, resource: ConfigResource, values: Sequence[tuple[str, str | None]]
    ) -> Mapping[str, str | None]:
        """What AlterConfigs makes of a resource."""
        kind, current = ResourceType(resource.type), configs.get(resource, _NOTHING)
        with _refusals():
            return alter_all(kind, resource.name, current, values, self.node(configs))

    def topic_value(self, configs: Configs, topic: str, name: str) -> str:
        """What is in effect for a topic."""
        own = configs.get(ConfigResource(ResourceType.TOPIC, topic), _NOTHING)
        return own[name] if name in own else to_text(self.node(configs).topic_defaults[name]) or ""

    def describe_topic(self, configs: Configs, own: Mapping[str, str]) -> Sequence[ConfigRow]:
        """All configs of a topic with these values of its own."""
        node = self.node(configs)
        if own:
            return describe(ResourceType.TOPIC, "", own, node)
        if self._plain_rows is None:
            self._plain_rows = describe(ResourceType.TOPIC, "", _NOTHING, node)
        return self._plain_rows

    def node(self, configs: Configs) -> NodeConfigs:
        """The layers as an image has them; made anew only when one of the image's two is another object."""
        cluster, own = layers = (configs.get(ALL_BROKERS, _NOTHING), configs.get(self._itself, _NOTHING))
        if cluster is not self._layers[0] or own is not self._layers[1]:
            self._node, self._layers, self._plain_rows = NodeConfigs(self._node.static, cluster, own), layers, None
        return self._node


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except ConfigError as error:
        raise ApiError(error.code, error.message) from None
