"""What a family of clients must offer, so that one test runs with every one of them.

Settings have the names of Kafka's Java clients (`auto.offset.reset`); a family translates what it spells otherwise.
A family that cannot do something says so in `lacks`, and the tests that need it are not collected for it.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from waiting import until

Partition = tuple[str, int]
Committed = tuple[int, str]  # offset and metadata
Settings = Mapping[str, Any]

CREATE_TIME, LOG_APPEND_TIME = 0, 1
CONFIG_SOURCES: Final = {
    1: "DYNAMIC_TOPIC_CONFIG",
    2: "DYNAMIC_BROKER_CONFIG",
    3: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    4: "STATIC_BROKER_CONFIG",
    5: "DEFAULT_CONFIG",
}
FROM_START: Final = {"auto.offset.reset": "earliest"}


class ClientError(Exception):
    """What a client raised. `code` is the broker's error code, or -1 or less where the client itself objected."""

    def __init__(self, code: int, name: str) -> None:
        super().__init__(f"{code} {name}")
        self.code, self.name = code, name


@dataclass(frozen=True)
class Record:
    """A record to send; what is None, the client chooses."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int | None = None
    partition: int | None = None


@dataclass(frozen=True)
class Received:
    """A record that came back."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True)
class Config:
    """One entry of DescribeConfigs. `source` is named as in Java: DEFAULT_CONFIG, DYNAMIC_TOPIC_CONFIG and so on."""

    value: str | None
    source: str


@dataclass(frozen=True)
class Group:
    """What describing a group tells."""

    state: str
    members: tuple[tuple[str, frozenset[Partition]], ...]  # client id and assignment


class Producer(ABC):
    """Sends records."""

    @abstractmethod
    def send(self, topic: str, records: Sequence[Record]) -> list[tuple[int, int]]:
        """Send all and wait for all: the partition and offset of each."""

    @abstractmethod
    def close(self) -> None: ...


class Consumer(ABC):
    """Reads records, alone or in a group. Used by one thread at a time."""

    @abstractmethod
    def subscribe(self, topics: Sequence[str]) -> None: ...

    @abstractmethod
    def subscribe_pattern(self, pattern: str) -> None: ...

    @abstractmethod
    def assign(self, partitions: Sequence[Partition]) -> None: ...

    @abstractmethod
    def assignment(self) -> set[Partition]: ...

    @abstractmethod
    def poll(self, timeout_s: float = 0.2) -> list[Received]: ...

    @abstractmethod
    def seek(self, partition: Partition, offset: int) -> None: ...

    @abstractmethod
    def position(self, partition: Partition) -> int: ...

    @abstractmethod
    def pause(self, partitions: Sequence[Partition]) -> None: ...

    @abstractmethod
    def resume(self, partitions: Sequence[Partition]) -> None: ...

    @abstractmethod
    def commit(self, offsets: Mapping[Partition, Committed]) -> None: ...

    @abstractmethod
    def committed(self, partition: Partition) -> int | None: ...

    @abstractmethod
    def start_offset(self, partition: Partition) -> int: ...

    @abstractmethod
    def end_offset(self, partition: Partition) -> int: ...

    @abstractmethod
    def offsets_for_times(self, times: Mapping[Partition, int]) -> dict[Partition, int | None]:
        """The first offset at or after each time, None where there is none."""

    @abstractmethod
    def close(self) -> None:
        """Leave the group, if there is one."""

    def take(self, count: int, timeout_s: float = 30) -> list[Received]:
        """Poll until `count` records are here."""
        records: list[Received] = []

        def enough() -> bool:
            records.extend(self.poll())
            return len(records) >= count

        until(enough, f"{count} records", timeout_s)
        return records


class Admin(ABC):
    """Administers a cluster."""

    @abstractmethod
    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        configs: Mapping[str, str] | None = None,
        *,
        replication: int = 1,
        validate_only: bool = False,
    ) -> None: ...

    @abstractmethod
    def delete_topic(self, name: str) -> None: ...

    @abstractmethod
    def list_topics(self) -> set[str]: ...

    @abstractmethod
    def describe_topic(self, name: str) -> list[tuple[int, int, list[int], list[int]]]:
        """Index, leader, replicas and in-sync replicas of each partition."""

    @abstractmethod
    def create_partitions(self, name: str, count: int) -> None: ...

    @abstractmethod
    def describe_configs(self, kind: str, name: str) -> dict[str, Config]:
        """`kind` is topic or broker."""

    @abstractmethod
    def list_groups(self) -> set[str]: ...

    @abstractmethod
    def describe_group(self, name: str) -> Group: ...

    @abstractmethod
    def group_offsets(self, group: str) -> dict[Partition, Committed]: ...

    @abstractmethod
    def delete_records(self, partition: Partition, before_offset: int) -> None: ...

    @abstractmethod
    def describe_cluster(self) -> tuple[int, set[int]]:
        """The controller's id and every node's."""

    @abstractmethod
    def close(self) -> None: ...

    # What only some families have. Each of these is a word for `lacks`.

    def alter_configs(self, kind: str, name: str, changes: Iterable[tuple[str, str, str | None]]) -> None:
        """Incremental: (set | delete | append | subtract, name, value)."""
        raise NotImplementedError

    def replace_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        """The older AlterConfigs: what is not named goes back to its default."""
        raise NotImplementedError

    def delete_group(self, name: str) -> None:
        raise NotImplementedError

    def alter_group_offsets(self, group: str, offsets: Mapping[Partition, int]) -> None:
        raise NotImplementedError

    def delete_group_offsets(self, group: str, partitions: Collection[Partition]) -> None:
        raise NotImplementedError

    def list_offset(self, partition: Partition, timestamp_ms: int) -> tuple[int, int]:
        """Offset and timestamp for a time, or -1 latest, -2 earliest, -3 of the largest timestamp."""
        raise NotImplementedError


class Family(ABC):
    """A client library, bound to a broker."""

    name: ClassVar[str]
    lacks: ClassVar[frozenset[str]] = frozenset()
    assignors: ClassVar[tuple[str, ...]]

    def __init__(self, address: str) -> None:
        self.address = address

    @abstractmethod
    def open_producer(self, settings: Settings) -> Producer: ...

    @abstractmethod
    def open_consumer(self, settings: Settings) -> Consumer: ...

    @abstractmethod
    def open_admin(self) -> Admin: ...

    def close(self) -> None:  # noqa: B027  # most families hold nothing
        """Free what the family itself holds."""

    @contextmanager
    def producer(self, settings: Settings | None = None) -> Iterator[Producer]:
        producer = self.open_producer(settings or {})
        try:
            yield producer
        finally:
            producer.close()

    @contextmanager
    def consumer(self, settings: Settings | None = None) -> Iterator[Consumer]:
        consumer = self.open_consumer({"enable.auto.commit": False, **(settings or {})})
        try:
            yield consumer
        finally:
            consumer.close()

    @contextmanager
    def admin(self) -> Iterator[Admin]:
        admin = self.open_admin()
        try:
            yield admin
        finally:
            admin.close()

    def produce(self, topic: str, records: Sequence[Record], settings: Settings | None = None) -> list[tuple[int, int]]:
        """Send records with a producer of their own; the partition and offset of each."""
        with self.producer(settings) as producer:
            return producer.send(topic, records)

    def read(
        self, topic: str, count: int, *, offset: int = 0, partition: int = 0, settings: Settings | None = None
    ) -> list[Received]:
        """Records of one partition from an offset on, without a group."""
        with self.consumer(settings) as consumer:
            consumer.assign([(topic, partition)])
            consumer.seek((topic, partition), offset)
            return consumer.take(count)


def settings_in_python(settings: Settings) -> dict[str, Any]:
    """Kafka's names as the pure-Python clients spell them."""
    return {name.replace(".", "_"): value for name, value in settings.items()}


def as_text(value: object) -> str:
    """A setting's value as Java and librdkafka read it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
