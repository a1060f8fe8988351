"""confluent-kafka, which is librdkafka."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import confluent_kafka
import confluent_kafka.admin
from clients.families import base
from clients.families.base import CONFIG_SOURCES, ClientError, Committed, Config, Group, Partition, Received, Record
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)

TIMEOUT_S = 30.0
STATES = {"STABLE": "Stable", "EMPTY": "Empty", "DEAD": "Dead"}


def raised(error: confluent_kafka.KafkaError) -> ClientError:
    return ClientError(error.code(), f"{error.name()}: {error.str()}")


@contextmanager
def translated() -> Iterator[None]:
    """Turn the library's errors into ours."""
    try:
        yield
    except KafkaException as thrown:
        raise raised(thrown.args[0]) from thrown


def spelled(address: str, settings: base.Settings) -> dict[str, Any]:
    names = {
        "max.request.size": "message.max.bytes",
        "metadata.max.age.ms": "topic.metadata.refresh.interval.ms",
        "max.block.ms": None,
    }
    spelled = {names.get(name, name): base.as_text(value) for name, value in settings.items()}
    spelled.pop(None, None)
    if spelled.get("auto.offset.reset") == "none":
        spelled["auto.offset.reset"] = "error"
    return {"bootstrap.servers": address, "log_level": 2, **spelled}


class Producer(base.Producer):
    def __init__(self, address: str, settings: base.Settings) -> None:
        self._producer = confluent_kafka.Producer(spelled(address, settings))

    def send(self, topic: str, records: Sequence[Record]) -> list[tuple[int, int]]:
        reports: list[Future[tuple[int, int]]] = []
        for record in records:
            report: Future[tuple[int, int]] = Future()
            reports.append(report)
            self._produce(topic, record, report)
        self._producer.flush(TIMEOUT_S)
        return [report.result(0) for report in reports]

    def _produce(self, topic: str, record: Record, report: Future[tuple[int, int]]) -> None:
        def delivered(error: Any, message: Any) -> None:
            if error is not None:
                report.set_exception(raised(error))
            else:
                report.set_result((message.partition(), message.offset()))

        optional = {"partition": record.partition, "timestamp": record.timestamp_ms}
        with translated():
            self._producer.produce(
                topic,
                record.value,
                record.key,
                on_delivery=delivered,
                headers=list(record.headers),
                **{name: value for name, value in optional.items() if value is not None},
            )

    def close(self) -> None:
        self._producer.flush(TIMEOUT_S)


class Consumer(base.Consumer):
    def __init__(self, address: str, settings: base.Settings) -> None:
        # librdkafka wants a group's name even of a consumer that joins none.
        self._consumer = confluent_kafka.Consumer(spelled(address, {"group.id": "without-group", **settings}))

    def subscribe(self, topics: Sequence[str]) -> None:
        self._consumer.subscribe(list(topics))

    def subscribe_pattern(self, pattern: str) -> None:
        self._consumer.subscribe([f"^{pattern}"])

    def assign(self, partitions: Sequence[Partition]) -> None:
        self._consumer.assign([TopicPartition(*partition) for partition in partitions])

    def assignment(self) -> set[Partition]:
        return {(part.topic, part.partition) for part in self._consumer.assignment()}

    def poll(self, timeout_s: float = 0.2) -> list[Received]:
        messages = self._consumer.consume(1, timeout_s)
        messages += self._consumer.consume(10_000, 0.01) if messages else []
        for message in messages:
            if error := message.error():
                raise raised(error)
        return [received(message) for message in messages]

    def seek(self, partition: Partition, offset: int) -> None:
        """librdkafka seeks only what it fetches already; assigning with an offset is how its users seek at once."""
        others = [part for part in self._consumer.assignment() if (part.topic, part.partition) != partition]
        with translated():
            if others:
                self._consumer.seek(TopicPartition(*partition, offset))
            else:
                self._consumer.assign([TopicPartition(*partition, offset)])

    def position(self, partition: Partition) -> int:
        with translated():
            return self._consumer.position([TopicPartition(*partition)])[0].offset

    def pause(self, partitions: Sequence[Partition]) -> None:
        self._consumer.pause([TopicPartition(*partition) for partition in partitions])

    def resume(self, partitions: Sequence[Partition]) -> None:
        self._consumer.resume([TopicPartition(*partition) for partition in partitions])

    def commit(self, offsets: Mapping[Partition, Committed]) -> None:
        wanted = [TopicPartition(*key, offset, metadata) for key, (offset, metadata) in offsets.items()]
        with translated():
            answered = self._consumer.commit(offsets=wanted, asynchronous=False)
        for part in answered or []:
            if part.error:
                raise raised(part.error)

    def committed(self, partition: Partition) -> int | None:
        with translated():
            (found,) = self._consumer.committed([TopicPartition(*partition)], TIMEOUT_S)
        return found.offset if found.offset >= 0 else None

    def start_offset(self, partition: Partition) -> int:
        return self._consumer.get_watermark_offsets(TopicPartition(*partition), TIMEOUT_S)[0]

    def end_offset(self, partition: Partition) -> int:
        return self._consumer.get_watermark_offsets(TopicPartition(*partition), TIMEOUT_S)[1]

    def offsets_for_times(self, times: Mapping[Partition, int]) -> dict[Partition, int | None]:
        """librdkafka gives the end of the partition as -1 where no record is late enough."""
        asked = [TopicPartition(*partition, time) for partition, time in times.items()]
        with translated():
            found = self._consumer.offsets_for_times(asked, TIMEOUT_S)
        return {(part.topic, part.partition): part.offset if part.offset >= 0 else None for part in found}

    def close(self) -> None:
        self._consumer.close()


def received(message: confluent_kafka.Message) -> Received:
    kind, timestamp_ms = message.timestamp()
    return Received(
        message.topic(),
        message.partition(),
        message.offset(),
        timestamp_ms,
        base.LOG_APPEND_TIME if kind == confluent_kafka.TIMESTAMP_LOG_APPEND_TIME else base.CREATE_TIME,
        message.key(),
        message.value(),
        tuple(message.headers() or ()),
    )


class Admin(base.Admin):
    def __init__(self, address: str) -> None:
        self._admin = AdminClient(spelled(address, {}))

    @staticmethod
    def _one(futures: Mapping[Any, Future[Any]]) -> Any:
        (future,) = futures.values()
        with translated():
            return future.result(TIMEOUT_S)

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        configs: Mapping[str, str] | None = None,
        *,
        replication: int = 1,
        validate_only: bool = False,
    ) -> None:
        topic = NewTopic(name, partitions, replication, config=dict(configs or {}))
        self._one(self._admin.create_topics([topic], validate_only=validate_only))

    def delete_topic(self, name: str) -> None:
        self._one(self._admin.delete_topics([name]))

    def list_topics(self) -> set[str]:
        return set(self._admin.list_topics(timeout=TIMEOUT_S).topics)

    def describe_topic(self, name: str) -> list[tuple[int, int, list[int], list[int]]]:
        topic = self._one(self._admin.describe_topics(confluent_kafka.TopicCollection([name])))
        return sorted(
            (part.id, part.leader.id, [node.id for node in part.replicas], [node.id for node in part.isr])
            for part in topic.partitions
        )

    def create_partitions(self, name: str, count: int) -> None:
        self._one(self._admin.create_partitions([NewPartitions(name, count)]))

    def describe_configs(self, kind: str, name: str) -> dict[str, Config]:
        found = self._one(self._admin.describe_configs([ConfigResource(kind.upper(), name)]))
        return {key: Config(entry.value, CONFIG_SOURCES[entry.source]) for key, entry in found.items()}

    def alter_configs(self, kind: str, name: str, changes: Iterable[tuple[str, str, str | None]]) -> None:
        entries = [ConfigEntry(key, value, incremental_operation=OPS[op]) for op, key, value in changes]
        resource = ConfigResource(kind.upper(), name, incremental_configs=entries)
        self._one(self._admin.incremental_alter_configs([resource]))

    def replace_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        self._one(self._admin.alter_configs([ConfigResource("TOPIC", topic, set_config=dict(configs))]))

    def list_groups(self) -> set[str]:
        with translated():
            listed = self._admin.list_consumer_groups().result(TIMEOUT_S)
        return {group.group_id for group in listed.valid}

    def describe_group(self, name: str) -> Group:
        group = self._one(self._admin.describe_consumer_groups([name]))
        return Group(
            STATES.get(group.state.name, group.state.name),
            tuple(
                (m.client_id, frozenset((part.topic, part.partition) for part in m.assignment.topic_partitions))
                for m in group.members
            ),
        )

    def delete_group(self, name: str) -> None:
        self._one(self._admin.delete_consumer_groups([name]))

    def group_offsets(self, group: str) -> dict[Partition, Committed]:
        asked = confluent_kafka.ConsumerGroupTopicPartitions(group)
        found = self._one(self._admin.list_consumer_group_offsets([asked]))
        return {(part.topic, part.partition): (part.offset, part.metadata or "") for part in found.topic_partitions}

    def alter_group_offsets(self, group: str, offsets: Mapping[Partition, int]) -> None:
        wanted = [TopicPartition(*partition, offset) for partition, offset in offsets.items()]
        asked = confluent_kafka.ConsumerGroupTopicPartitions(group, wanted)
        answered = self._one(self._admin.alter_consumer_group_offsets([asked]))
        for part in answered.topic_partitions:
            if part.error:
                raise raised(part.error)

    def delete_records(self, partition: Partition, before_offset: int) -> None:
        self._one(self._admin.delete_records([TopicPartition(*partition, before_offset)]))

    def list_offset(self, partition: Partition, timestamp_ms: int) -> tuple[int, int]:
        specs = {-1: OffsetSpec.latest, -2: OffsetSpec.earliest, -3: OffsetSpec.max_timestamp}
        spec = specs[timestamp_ms]() if timestamp_ms < 0 else OffsetSpec.for_timestamp(timestamp_ms)
        found = self._one(self._admin.list_offsets({TopicPartition(*partition): spec}))
        return found.offset, found.timestamp

    def describe_cluster(self) -> tuple[int, set[int]]:
        with translated():
            cluster = self._admin.describe_cluster().result(TIMEOUT_S)
        return cluster.controller.id, {node.id for node in cluster.nodes}

    def close(self) -> None:
        """librdkafka closes with its last reference."""


OPS = {op.name.lower(): op for op in AlterConfigOpType}


class Family(base.Family):
    name = "confluent-kafka"
    assignors = ("range", "roundrobin", "cooperative-sticky")
    lacks = frozenset({"delete_group_offsets"})

    def open_producer(self, settings: base.Settings) -> Producer:
        return Producer(self.address, settings)

    def open_consumer(self, settings: base.Settings) -> Consumer:
        return Consumer(self.address, settings)

    def open_admin(self) -> Admin:
        return Admin(self.address)
