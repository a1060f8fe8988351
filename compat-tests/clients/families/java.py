"""Kafka's own Java clients, in the JVM of `jvm.py`."""

from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from clients.families import base
from clients.families.base import ClientError, Committed, Config, Group, Partition, Received, Record, Settings
from jvm import JavaError, Jvm

ASSIGNORS = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
}


def text(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def data(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)


def pairs(partitions: Iterable[Partition]) -> list[list[Any]]:
    return [list(partition) for partition in partitions]


def by_partition(entries: list[Any]) -> dict[Partition, Any]:
    return {(topic, number): value for (topic, number), value in entries}


class Client:
    """A Java object of one kind, reached by its handle."""

    kind: str

    def __init__(self, jvm: Jvm, address: str, settings: Settings) -> None:
        self._jvm = jvm
        self._handle: str | None = None
        spelled = {name: base.as_text(value) for name, value in settings.items()}
        if assignor := spelled.get("partition.assignment.strategy"):
            spelled["partition.assignment.strategy"] = f"org.apache.kafka.clients.consumer.{ASSIGNORS[assignor]}"
        self._handle = self._call("open", settings={"bootstrap.servers": address, **spelled})

    def _call(self, op: str, **arguments: Any) -> Any:
        try:
            return self._jvm.call(f"{self.kind}.{op}", on=self._handle, **arguments)
        except JavaError as error:
            raise ClientError(error.code, str(error)) from error

    def close(self) -> None:
        self._call("close")


class Producer(Client, base.Producer):
    kind = "producer"

    def send(self, topic: str, records: Sequence[Record]) -> list[tuple[int, int]]:
        sent = self._call("send", topic=topic, records=[to_json(record) for record in records])
        return [(partition, offset) for partition, offset in sent]


def to_json(record: Record) -> dict[str, Any]:
    return {
        "key": text(record.key),
        "value": text(record.value),
        "headers": [[name, text(value)] for name, value in record.headers],
        "timestamp_ms": record.timestamp_ms,
        "partition": record.partition,
    }


def from_json(fields: dict[str, Any]) -> Received:
    headers = tuple((name, data(value)) for name, value in fields.pop("headers"))
    key, value = data(fields.pop("key")), data(fields.pop("value"))
    return Received(key=key, value=value, headers=headers, **fields)


class Consumer(Client, base.Consumer):
    kind = "consumer"

    def subscribe(self, topics: Sequence[str]) -> None:
        self._call("subscribe", topics=list(topics))

    def subscribe_pattern(self, pattern: str) -> None:
        self._call("subscribe_pattern", pattern=pattern)

    def assign(self, partitions: Sequence[Partition]) -> None:
        self._call("assign", partitions=pairs(partitions))

    def assignment(self) -> set[Partition]:
        return {(topic, number) for topic, number in self._call("assignment")}

    def poll(self, timeout_s: float = 0.2) -> list[Received]:
        return [from_json(fields) for fields in self._call("poll", timeout_ms=int(timeout_s * 1000))]

    def seek(self, partition: Partition, offset: int) -> None:
        self._call("seek", partitions=[partition], offset=offset)

    def position(self, partition: Partition) -> int:
        position: int = self._call("position", partitions=[partition])
        return position

    def pause(self, partitions: Sequence[Partition]) -> None:
        self._call("pause", partitions=pairs(partitions))

    def resume(self, partitions: Sequence[Partition]) -> None:
        self._call("resume", partitions=pairs(partitions))

    def commit(self, offsets: Mapping[Partition, Committed]) -> None:
        self._call("commit", offsets=[[partition, *committed] for partition, committed in offsets.items()])

    def committed(self, partition: Partition) -> int | None:
        offset: int | None = self._call("committed", partitions=[partition])
        return offset

    def start_offset(self, partition: Partition) -> int:
        return int(by_partition(self._call("start_offsets", partitions=[partition]))[partition])

    def end_offset(self, partition: Partition) -> int:
        return int(by_partition(self._call("end_offsets", partitions=[partition]))[partition])

    def offsets_for_times(self, times: Mapping[Partition, int]) -> dict[Partition, int | None]:
        return by_partition(self._call("offsets_for_times", times=[[key, time] for key, time in times.items()]))


class Admin(Client, base.Admin):
    kind = "admin"

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        configs: Mapping[str, str] | None = None,
        *,
        replication: int = 1,
        validate_only: bool = False,
    ) -> None:
        self._call(
            "create_topic",
            name=name,
            partitions=partitions,
            configs=dict(configs or {}),
            replication=replication,
            validate_only=validate_only,
        )

    def delete_topic(self, name: str) -> None:
        self._call("delete_topic", name=name)

    def list_topics(self) -> set[str]:
        return set(self._call("list_topics"))

    def describe_topic(self, name: str) -> list[tuple[int, int, list[int], list[int]]]:
        return sorted(tuple(partition) for partition in self._call("describe_topic", name=name))

    def create_partitions(self, name: str, count: int) -> None:
        self._call("create_partitions", name=name, count=count)

    def describe_configs(self, kind: str, name: str) -> dict[str, Config]:
        return {key: Config(**entry) for key, entry in self._call("describe_configs", kind=kind, name=name).items()}

    def alter_configs(self, kind: str, name: str, changes: Iterable[tuple[str, str, str | None]]) -> None:
        self._call("alter_configs", kind=kind, name=name, changes=[list(change) for change in changes])

    def list_groups(self) -> set[str]:
        return set(self._call("list_groups"))

    def describe_group(self, name: str) -> Group:
        group = self._call("describe_group", name=name)
        members = tuple((client, frozenset((t, n) for t, n in assigned)) for client, assigned in group["members"])
        return Group(group["state"], members)

    def delete_group(self, name: str) -> None:
        self._call("delete_group", name=name)

    def group_offsets(self, group: str) -> dict[Partition, Committed]:
        found = by_partition(self._call("group_offsets", name=group))
        return {partition: (offset, metadata) for partition, (offset, metadata) in found.items()}

    def alter_group_offsets(self, group: str, offsets: Mapping[Partition, int]) -> None:
        self._call("alter_group_offsets", name=group, offsets=[[key, offset] for key, offset in offsets.items()])

    def delete_group_offsets(self, group: str, partitions: Collection[Partition]) -> None:
        self._call("delete_group_offsets", name=group, partitions=pairs(partitions))

    def delete_records(self, partition: Partition, before_offset: int) -> None:
        self._call("delete_records", partitions=[partition], offset=before_offset)

    def list_offset(self, partition: Partition, timestamp_ms: int) -> tuple[int, int]:
        offset, timestamp = self._call("list_offset", partitions=[partition], timestamp=timestamp_ms)
        return offset, timestamp

    def describe_cluster(self) -> tuple[int, set[int]]:
        cluster = self._call("describe_cluster")
        return cluster["controller"], set(cluster["nodes"])


class Family(base.Family):
    name = "java"
    assignors = tuple(ASSIGNORS)
    lacks = frozenset({"replace_configs"})  # removed in 4.0

    def __init__(self, address: str, jvm: Jvm | None = None) -> None:
        """With the JVM that other tests use, or with one of its own."""
        super().__init__(address)
        self._jvm = jvm or Jvm()
        self._own = jvm is None

    def open_producer(self, settings: Settings) -> Producer:
        return Producer(self._jvm, self.address, settings)

    def open_consumer(self, settings: Settings) -> Consumer:
        return Consumer(self._jvm, self.address, settings)

    def open_admin(self) -> Admin:
        return Admin(self._jvm, self.address, {})

    def close(self) -> None:
        if self._own:
            self._jvm.close()
