"""What operations need of other rooms, as they need it."""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Final, Protocol, TypeAlias

from kafkish.metadata.image import Configs


class ConfigRow(Protocol):
    """A config of a topic as a client is shown it. `source` is Kafka's number: 1 the topic's own, 5 the default, ..."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> str | None: ...
    @property
    def source(self) -> int: ...
    @property
    def is_sensitive(self) -> bool: ...
    @property
    def read_only(self) -> bool: ...


class ConfigPort(Protocol):
    """What is known of configs. `configs` is always an image's: what was set, for all resources."""

    def check(self, resource_type: int, values: Mapping[str, str], present: Mapping[str, str]) -> str | None:
        """What is wrong with these values for a resource, taken together; None if nothing. `present` is what it has."""

    def is_list(self, resource_type: int, name: str) -> bool:
        """Whether values can be appended and subtracted."""

    def default(self, resource_type: int, name: str) -> str | None:
        """What appending begins with where nothing is set."""

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
