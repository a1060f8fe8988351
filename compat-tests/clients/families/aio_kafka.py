"""aiokafka. Its coroutines run on an event loop in a thread, so that tests need not be coroutines."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import aiokafka
import aiokafka.admin
import aiokafka.errors
from aiokafka import TopicPartition
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment
from aiokafka.structs import OffsetAndMetadata
from clients.families import base
from clients.families.base import (
    CONFIG_SOURCES,
    ClientError,
    Committed,
    Config,
    Group,
    Partition,
    Received,
    Record,
    Settings,
)

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}
Answer = TypeVar("Answer")


@contextmanager
def translated() -> Iterator[None]:
    """Turn the library's errors into ours."""
    try:
        yield
    except aiokafka.errors.KafkaError as error:
        raise ClientError(getattr(error, "errno", -1), f"{type(error).__name__}: {error}") from error


def expect(error_code: int) -> None:
    if error_code:
        raise ClientError(error_code, aiokafka.errors.for_code(error_code).__name__)


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def run(self, work: Coroutine[Any, Any, Answer], timeout_s: float = 60) -> Answer:
        with translated():
            return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout_s)

    def make(self, kind: type[Answer], **settings: Any) -> Answer:
        """Some of aiokafka's objects must be born on their loop."""

        async def born() -> Answer:
            return kind(**settings)

        return self.run(born())

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)


def spelled(settings: Settings) -> dict[str, Any]:
    spelled = base.settings_in_python(settings)
    spelled.pop("max_block_ms", None)
    if spelled.get("compression_type") == "none":
        del spelled["compression_type"]
    if "batch_size" in spelled:
        spelled["max_batch_size"] = spelled.pop("batch_size")
    if (assignor := spelled.get("partition_assignment_strategy")) is not None:
        spelled["partition_assignment_strategy"] = (ASSIGNORS[assignor],)
    return spelled


class Producer(base.Producer):
    def __init__(self, loop: Loop, address: str, settings: Settings) -> None:
        self._loop = loop
        self._producer = loop.make(aiokafka.AIOKafkaProducer, bootstrap_servers=address, **spelled(settings))
        loop.run(self._producer.start())

    def send(self, topic: str, records: Sequence[Record]) -> list[tuple[int, int]]:
        return self._loop.run(self._send(topic, records))

    async def _send(self, topic: str, records: Sequence[Record]) -> list[tuple[int, int]]:
        futures = [
            await self._producer.send(
                topic,
                record.value,
                record.key,
                partition=record.partition,
                timestamp_ms=record.timestamp_ms,
                headers=list(record.headers),
            )
            for record in records
        ]
        sent = await asyncio.gather(*futures)
        return [(metadata.partition, metadata.offset) if metadata else (-1, -1) for metadata in sent]

    def close(self) -> None:
        self._loop.run(self._producer.stop())


class Consumer(base.Consumer):
    def __init__(self, loop: Loop, address: str, settings: Settings) -> None:
        self._loop = loop
        self._consumer = loop.make(aiokafka.AIOKafkaConsumer, bootstrap_servers=address, **spelled(settings))
        loop.run(self._consumer.start())

    def _on_loop(self, method: Any, *arguments: Any, **named: Any) -> Any:
        async def called() -> Any:
            return method(*arguments, **named)

        return self._loop.run(called())

    def subscribe(self, topics: Sequence[str]) -> None:
        self._on_loop(self._consumer.subscribe, topics)

    def subscribe_pattern(self, pattern: str) -> None:
        self._on_loop(self._consumer.subscribe, pattern=pattern)

    def assign(self, partitions: Sequence[Partition]) -> None:
        self._on_loop(self._consumer.assign, [TopicPartition(*partition) for partition in partitions])

    def assignment(self) -> set[Partition]:
        return {tuple(partition) for partition in self._consumer.assignment()}

    def poll(self, timeout_s: float = 0.2) -> list[Received]:
        batches = self._loop.run(self._consumer.getmany(timeout_ms=int(timeout_s * 1000)))
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
        self._on_loop(self._consumer.seek, TopicPartition(*partition), offset)

    def position(self, partition: Partition) -> int:
        return self._loop.run(self._consumer.position(TopicPartition(*partition)))

    def pause(self, partitions: Sequence[Partition]) -> None:
        self._on_loop(self._consumer.pause, *(TopicPartition(*partition) for partition in partitions))

    def resume(self, partitions: Sequence[Partition]) -> None:
        self._on_loop(self._consumer.resume, *(TopicPartition(*partition) for partition in partitions))

    def commit(self, offsets: Mapping[Partition, Committed]) -> None:
        wanted = {TopicPartition(*key): OffsetAndMetadata(*committed) for key, committed in offsets.items()}
        self._loop.run(self._consumer.commit(wanted))

    def committed(self, partition: Partition) -> int | None:
        return self._loop.run(self._consumer.committed(TopicPartition(*partition)))

    def start_offset(self, partition: Partition) -> int:
        key = TopicPartition(*partition)
        return self._loop.run(self._consumer.beginning_offsets([key]))[key]

    def end_offset(self, partition: Partition) -> int:
        key = TopicPartition(*partition)
        return self._loop.run(self._consumer.end_offsets([key]))[key]

    def offsets_for_times(self, times: Mapping[Partition, int]) -> dict[Partition, int | None]:
        asked = {TopicPartition(*key): time for key, time in times.items()}
        found = self._loop.run(self._consumer.offsets_for_times(asked))
        return {tuple(partition): answer and answer.offset for partition, answer in found.items()}

    def close(self) -> None:
        self._loop.run(self._consumer.stop())


class Admin(base.Admin):
    def __init__(self, loop: Loop, address: str) -> None:
        self._run = loop.run
        self._admin = loop.make(aiokafka.admin.AIOKafkaAdminClient, bootstrap_servers=address)
        loop.run(self._admin.start())

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        configs: Mapping[str, str] | None = None,
        *,
        replication: int = 1,
        validate_only: bool = False,
    ) -> None:
        topic = aiokafka.admin.NewTopic(name, partitions, replication, topic_configs=dict(configs or {}))
        response = self._run(self._admin.create_topics([topic], validate_only=validate_only))
        expect(response.topic_errors[0][1])

    def delete_topic(self, name: str) -> None:
        expect(self._run(self._admin.delete_topics([name])).topic_error_codes[0][1])

    def list_topics(self) -> set[str]:
        return set(self._run(self._admin.list_topics()))

    def describe_topic(self, name: str) -> list[tuple[int, int, list[int], list[int]]]:
        (topic,) = self._run(self._admin.describe_topics([name]))
        expect(topic["error_code"])
        return sorted(
            (part["partition"], part["leader"], part["replicas"], part["isr"]) for part in topic["partitions"]
        )

    def create_partitions(self, name: str, count: int) -> None:
        self._run(self._admin.create_partitions({name: aiokafka.admin.NewPartitions(count)}))

    def describe_configs(self, kind: str, name: str) -> dict[str, Config]:
        resource = ConfigResource(ConfigResourceType[kind.upper()], name)
        (response,) = self._run(self._admin.describe_configs([resource]))
        error_code, _, _, _, entries = response.resources[0]
        expect(error_code)
        return {entry[0]: Config(entry[1], CONFIG_SOURCES[entry[3]]) for entry in entries}

    def replace_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs=dict(configs))
        (response,) = self._run(self._admin.alter_configs([resource]))
        expect(response.resources[0][0])

    def list_groups(self) -> set[str]:
        return {group for group, _ in self._run(self._admin.list_consumer_groups())}

    def describe_group(self, name: str) -> Group:
        (response,) = self._run(self._admin.describe_consumer_groups([name]))
        error_code, _, state, _, _, members, *_ = response.groups[0]
        expect(error_code)
        return Group(state, tuple((client_id, assigned(data)) for _, client_id, _, _, data, *_ in members))

    def group_offsets(self, group: str) -> dict[Partition, Committed]:
        found = self._run(self._admin.list_consumer_group_offsets(group))
        return {tuple(partition): (entry.offset, entry.metadata) for partition, entry in found.items()}

    def delete_records(self, partition: Partition, before_offset: int) -> None:
        wanted = {TopicPartition(*partition): aiokafka.admin.RecordsToDelete(before_offset)}
        self._run(self._admin.delete_records(wanted))

    def describe_cluster(self) -> tuple[int, set[int]]:
        cluster = self._run(self._admin.describe_cluster())
        return cluster["controller_id"], {node["node_id"] for node in cluster["brokers"]}

    def close(self) -> None:
        self._run(self._admin.close())


def assigned(data: bytes) -> frozenset[Partition]:
    assignment = ConsumerProtocolMemberAssignment.decode(data).assignment if data else []
    return frozenset((topic, number) for topic, numbers in assignment for number in numbers)


class Family(base.Family):
    name = "aiokafka"
    assignors = tuple(ASSIGNORS)
    # A fenced member logs and retries.
    lacks = frozenset(
        {"alter_configs", "delete_group", "alter_group_offsets", "delete_group_offsets", "list_offset", "fencing"}
    )

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._loop = Loop()

    def open_producer(self, settings: Settings) -> Producer:
        return Producer(self._loop, self.address, settings)

    def open_consumer(self, settings: Settings) -> Consumer:
        return Consumer(self._loop, self.address, settings)

    def open_admin(self) -> Admin:
        return Admin(self._loop, self.address)

    def close(self) -> None:
        self._loop.close()
