"""What operations need of other rooms, as they need it."""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Final, NamedTuple, Protocol, TypeAlias

from kafkish.metadata.image import ConfigResource, Configs


class ConfigChange(NamedTuple):
    """One config of an IncrementalAlterConfigs request: 0 sets, 1 deletes, 2 appends, 3 subtracts."""

    name: str
    type: int
    value: str | None


class ConfigRow(Protocol):
    """A config of a topic as a client is shown it. `source` is Kafka's number: 1 the topic's own, 5 the default, ..."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> str | None: ...
    @property
    def source(self) -> int: ...
    @property
    def sensitive(self) -> bool: ...
    @property
    def read_only(self) -> bool: ...


class ConfigPort(Protocol):
    """What is known of configs. `configs` is always an image's: what was set, for all resources.

    Names, types, values, how they go together, and lists are its affair: what it refuses it raises as ApiError.
    """

    def alter(
        self, configs: Configs, resource: ConfigResource, changes: Sequence[ConfigChange]
    ) -> Mapping[str, str | None]:
        """What IncrementalAlterConfigs makes of a resource: new values to write, None to remove."""

    def replace(
        self, configs: Configs, resource: ConfigResource, values: Sequence[tuple[str, str | None]]
    ) -> Mapping[str, str | None]:
        """What AlterConfigs makes of a resource; what is not named is removed."""

    def topic_value(self, configs: Configs, topic: str, name: str) -> str:
        """What is in effect for a topic: its own value, this node's, all brokers', the static one, the default."""

    def describe_topic(self, configs: Configs, own: Mapping[str, str]) -> Sequence[ConfigRow]:
        """All configs of a topic with these values of its own."""

    @property
    def static_min_isr(self) -> int:
        """`min.insync.replicas` of the properties file, or its default."""


class Dice(Protocol):
    """Random choices, such as `random.Random` makes."""

    def randrange(self, stop: int, /) -> int:
        """A number from 0 to below `stop`."""


class AclOperation(IntEnum):
    """What someone wants to do, by Kafka's numbers."""

    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11


class AclResource(IntEnum):
    """What they want to do it to."""

    TOPIC = 2
    GROUP = 3
    CLUSTER = 4


CLUSTER_NAME: Final = "kafka-cluster"

Authorize: TypeAlias = Callable[[AclOperation, AclResource, str], bool]
"""Whether the client may do this to the resource of that name."""
