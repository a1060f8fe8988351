"""kafka-python 3."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import kafka
import kafka.errors
from clients.families import base
from clients.families.base import ClientError, Committed, Config, Group, Partition, Received, Record, Settings
from kafka.admin import AlterConfigOp, ConfigResource, KafkaAdminClient
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.structs import OffsetAndMetadata, TopicPartition

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}
Answer = TypeVar("Answer")


@contextmanager
def translated() -> Iterator[None]:
    """Turn the library's errors into ours."""
    try:
        yield
    except kafka.errors.KafkaError as error:
        raise ClientError(getattr(error, "errno", -1), f"{type(error).__name__}: {error}") from error


def spelled(settings: Settings) -> dict[str, Any]:
    spelled = base.settings_in_python(settings)
    if spelled.get("compression_type") == "none":
        spelled["compression_type"] = None
    if (assignor := spelled.get("partition_assignment_strategy")) is not None:
        spelled["partition_assignment_strategy"] = (ASSIGNORS[assignor],)
    return spelled


class Producer(base.Producer):
    def __init__(self, address: str, settings: Settings) -> None:
        with translated():
            self._producer = kafka.KafkaProducer(bootstrap_servers=address, **spelled(settings))

    def send(self, topic: str, records: Sequence[Record]) -> list[tuple[int, int]]:
        with translated():
            futures = [
                self._producer.send(
                    topic, record.value, record.key, list(record.headers), record.partition, record.timestamp_ms
                )
                for record in records
            ]
            self._producer.flush()
            sent = [future.get(30) for future in futures]
        return [(metadata.partition, metadata.offset) for metadata in sent]

    def close(self) -> None:
        self._producer.close()


class Consumer(base.Consumer):
    def __init__(self, address: str, settings: Settings) -> None:
        with translated():
            self._consumer = kafka.KafkaConsumer(bootstrap_servers=address, **spelled(settings))
        self._expects_new_metadata = "metadata.max.age.ms" in settings

    def subscribe(self, topics: Sequence[str]) -> None:
        self._consumer.subscribe(topics)

    def subscribe_pattern(self, pattern: str) -> None:
        self._consumer.subscribe(pattern=pattern)

    def assign(self, partitions: Sequence[Partition]) -> None:
        self._consumer.assign([TopicPartition(*partition) for partition in partitions])

    def assignment(self) -> set[Partition]:
        return {tuple(partition) for partition in self._consumer.assignment()}

    def poll(self, timeout_s: float = 0.2) -> list[Received]:
        """3.0.12 forgets a join that new metadata caused if a poll ends in the midst of it: be patient then."""
        patient = self._expects_new_metadata or not self._consumer.assignment()
        with translated():
            batches = self._consumer.poll(timeout_ms=1500 if patient else int(timeout_s * 1000))
        return [
            Received(
                record.topic,
                record.partition,
                record.offset,
                record.timestamp,
                record.timestamp_type,
                record.key,
                record.value,
                tuple(record.headers),
            )
            for records in batches.values()
            for record in records
        ]

    def seek(self, partition: Partition, offset: int) -> None:
        self._consumer.seek(TopicPartition(*partition), offset)

    def position(self, partition: Partition) -> int:
        with translated():
            position: int = self._consumer.position(TopicPartition(*partition))
        return position

    def pause(self, partitions: Sequence[Partition]) -> None:
        self._consumer.pause(*(TopicPartition(*partition) for partition in partitions))

    def resume(self, partitions: Sequence[Partition]) -> None:
        self._consumer.resume(*(TopicPartition(*partition) for partition in partitions))

    def commit(self, offsets: Mapping[Partition, Committed]) -> None:
        with translated():
            self._consumer.commit(
                {
                    TopicPartition(*partition): OffsetAndMetadata(offset, metadata, -1)
                    for partition, (offset, metadata) in offsets.items()
                }
            )

    def committed(self, partition: Partition) -> int | None:
        with translated():
            offset: int | None = self._consumer.committed(TopicPartition(*partition))
        return offset

    def start_offset(self, partition: Partition) -> int:
        offset: int = self._consumer.beginning_offsets([TopicPartition(*partition)])[TopicPartition(*partition)]
        return offset

    def end_offset(self, partition: Partition) -> int:
        offset: int = self._consumer.end_offsets([TopicPartition(*partition)])[TopicPartition(*partition)]
        return offset

    def offsets_for_times(self, times: Mapping[Partition, int]) -> dict[Partition, int | None]:
        with translated():
            found = self._consumer.offsets_for_times({TopicPartition(*key): time for key, time in times.items()})
        return {tuple(partition): answer and answer.offset for partition, answer in found.items()}

    def close(self) -> None:
        self._consumer.close()


class Admin(base.Admin):
    def __init__(self, address: str) -> None:
        with translated():
            self._admin = KafkaAdminClient(bootstrap_servers=address)

    def _ask(self, method: Callable[..., Answer], *arguments: Any, **named: Any) -> Answer:
        with translated():
            return method(*arguments, **named)

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        configs: Mapping[str, str] | None = None,
        *,
        replication: int = 1,
        validate_only: bool = False,
    ) -> None:
        topic = {"num_partitions": partitions, "replication_factor": replication, "configs": dict(configs or {})}
        self._ask(self._admin.create_topics, {name: topic}, validate_only=validate_only)

    def delete_topic(self, name: str) -> None:
        self._ask(self._admin.delete_topics, [name])

    def list_topics(self) -> set[str]:
        return set(self._ask(self._admin.list_topics))

    def describe_topic(self, name: str) -> list[tuple[int, int, list[int], list[int]]]:
        (topic,) = self._ask(self._admin.describe_topics, [name])
        if topic["error_code"]:
            raise ClientError(topic["error_code"], name)
        return sorted(
            (part["partition_index"], part["leader_id"], part["replica_nodes"], part["isr_nodes"])
            for part in topic["partitions"]
        )

    def create_partitions(self, name: str, count: int) -> None:
        self._ask(self._admin.create_partitions, {name: count})

    def describe_configs(self, kind: str, name: str) -> dict[str, Config]:
        resource = ConfigResource(kind, name)
        found = self._ask(self._admin.describe_configs, [resource], config_filter="all")[kind][name]
        return {key: Config(entry["value"], entry["config_source"]) for key, entry in found.items()}

    def alter_configs(self, kind: str, name: str, changes: Iterable[tuple[str, str, str | None]]) -> None:
        configs = {key: (AlterConfigOp[op.upper()], value) for op, key, value in changes}
        resource = ConfigResource(kind, name, configs)
        answer = self._ask(self._admin.alter_configs, [resource], raise_on_unknown=False)[kind][name]
        if error := re.match(r"\[Error (\d+)\]", answer):
            raise ClientError(int(error[1]), answer)

    def list_groups(self) -> set[str]:
        return {group["group_id"] for group in self._ask(self._admin.list_groups)}

    def describe_group(self, name: str) -> Group:
        group = self._ask(self._admin.describe_groups, [name])[name]
        return Group(group["group_state"], tuple((m["client_id"], assigned(m)) for m in group["members"]))

    def delete_group(self, name: str) -> None:
        answer = self._ask(self._admin.delete_groups, [name])[name]
        if answer != "OK":
            raise ClientError(getattr(kafka.errors, answer).errno, answer)

    def group_offsets(self, group: str) -> dict[Partition, Committed]:
        found = self._ask(self._admin.list_group_offsets, {group: None})[group]
        return {tuple(partition): (entry.offset, entry.metadata) for partition, entry in found.items()}

    def alter_group_offsets(self, group: str, offsets: Mapping[Partition, int]) -> None:
        wanted = {TopicPartition(*key): OffsetAndMetadata(offset, "", -1) for key, offset in offsets.items()}
        self._refuse(self._ask(self._admin.alter_group_offsets, group, wanted))

    def delete_group_offsets(self, group: str, partitions: Collection[Partition]) -> None:
        keys = [TopicPartition(*partition) for partition in partitions]
        self._refuse(self._ask(self._admin.delete_group_offsets, group, keys))

    @staticmethod
    def _refuse(errors: Mapping[TopicPartition, type[kafka.errors.KafkaError]]) -> None:
        for error in errors.values():
            if error is not kafka.errors.NoError:
                raise ClientError(error.errno, error.__name__)

    def delete_records(self, partition: Partition, before_offset: int) -> None:
        self._ask(self._admin.delete_records, {TopicPartition(*partition): before_offset})

    def list_offset(self, partition: Partition, timestamp_ms: int) -> tuple[int, int]:
        key = TopicPartition(*partition)
        found = self._ask(self._admin.list_partition_offsets, {key: timestamp_ms})[key]
        return found.offset, found.timestamp

    def describe_cluster(self) -> tuple[int, set[int]]:
        cluster = self._ask(self._admin.describe_cluster)
        return cluster["controller_id"], {node["broker_id"] for node in cluster["brokers"]}

    def close(self) -> None:
        self._admin.close()


def assigned(member: dict[str, Any]) -> frozenset[Partition]:
    assignment = member["member_assignment"]
    topics = assignment["assigned_partitions"] if assignment else []
    return frozenset((topic["topic"], number) for topic in topics for number in topic["partitions"])


class Family(base.Family):
    name = "kafka-python"
    # Its older AlterConfigs sends what is set already along, so nothing is replaced. A fenced member logs and retries.
    lacks = frozenset({"null_headers", "replace_configs", "fencing"})
    assignors = tuple(ASSIGNORS)

    def open_producer(self, settings: Settings) -> Producer:
        return Producer(self.address, settings)

    def open_consumer(self, settings: Settings) -> Consumer:
        return Consumer(self.address, settings)

    def open_admin(self) -> Admin:
        return Admin(self.address)
