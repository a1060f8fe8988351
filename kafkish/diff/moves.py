"""Which request comes next. Every API that both brokers serve has its turn; some know more than their schema."""

from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Any, Final

from kafkish.diff import batches, vocabulary
from kafkish.diff.grammar import Grammar
from kafkish.diff.members import Members
from kafkish.diff.script import Damage, Step
from kafkish.diff.world import Producer, World
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafkish_protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkish_protocol.records import BatchHeader
from kafkish_protocol.types import Uuid
from kafkish_protocol.versions import Versions

LANES: Final = 4
FREQUENT: Final = (
    ApiKey.PRODUCE, ApiKey.PRODUCE, ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.FETCH, ApiKey.LIST_OFFSETS,
    ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH, ApiKey.CREATE_TOPICS, ApiKey.CREATE_TOPICS,
)  # fmt: skip
NEVER: Final = (ApiKey.UPDATE_RAFT_VOTER, ApiKey.ADD_RAFT_VOTER, ApiKey.REMOVE_RAFT_VOTER)
FIRST_TOPICS: Final = (1, 3, 1, 2)
"""The partitions of the topics that there are from the start."""


class Moves:
    """An endless workload over these APIs."""

    def __init__(self, seed: int, world: World, versions: dict[int, Versions]) -> None:
        self.random = Random(seed)
        self.world = world
        self.grammar = Grammar(self.random, world)
        self.members = Members(self.random, world, versions)
        self._versions = versions
        self._keys = [ApiKey(key) for key in sorted(versions) if ApiKey(key) not in NEVER]

    def steps(self, busy: set[int]) -> Iterator[Step]:
        """Requests; `busy` tells at each one which lanes wait."""
        yield Step(0, self._first_topics(), 7)
        for number in count():
            free = [lane for lane in range(LANES) if lane not in busy] or [LANES + number]
            yield self._step(self.random.choice(free), number)

    def _first_topics(self) -> CreateTopicsRequest:
        rows = [
            CreatableTopic(name=f"t{self.world.tag}-{number}", num_partitions=partitions, replication_factor=1)
            for number, partitions in enumerate(FIRST_TOPICS)
        ]
        return CreateTopicsRequest(topics=rows, timeout_ms=5_000)

    def _step(self, lane: int, number: int) -> Step:
        choice = self.random.random()
        if choice < 0.12 and ApiKey.JOIN_GROUP in self._versions and self.world.topics:
            return self.members.step()
        every = self._keys[number % len(self._keys)]
        key = (
            every
            if choice < 0.5
            else self.random.choice([each for each in FREQUENT if each in self._versions] or self._keys)
        )
        version = self.random.choice(list(self._versions[key]))
        request = self._request(key, version)
        if choice > 0.985:
            return Step(lane, request, version, self._damage(request.encode(version)))
        return Step(lane, request, version)

    def _request(self, key: ApiKey, version: int) -> Any:
        if key is ApiKey.PRODUCE and self.world.topics:
            return self._produce()
        request: Any = self.grammar.request(key, version)
        if key is ApiKey.FETCH and version >= 7 and self.world.sessions and self.random.random() < 0.4:
            session = self.random.choice(self.world.sessions)
            request.session_id = session.id
            request.session_epoch = session.epoch if self.random.random() < 0.9 else 7
        return request

    def _produce(self) -> ProduceRequest:
        rows = []
        for name in {vocabulary.topic_name(self.world, self.random) for _ in range(self.random.choice((1, 1, 1, 2)))}:
            topic = self.world.topics.get(name)
            partitions = {
                self._partition(topic.partitions if topic else 1) for _ in range(self.random.choice((1, 1, 2)))
            }
            data = [PartitionProduceData(index=each, records=self._records(name, each)) for each in sorted(partitions)]
            own_id = topic.id if topic else Uuid(name.encode()[:16].ljust(16, b"\7"))
            rows.append(TopicProduceData(name=name, topic_id=own_id, partition_data=data))
        acks = self.random.choice((-1, -1, -1, 1, 1, 0, 2))
        rows.sort(key=lambda row: row.name)
        return ProduceRequest(acks=acks, timeout_ms=5_000, topic_data=rows)

    def _partition(self, partitions: int) -> int:
        return self.random.randrange(partitions) if self.random.random() < 0.93 else self.random.choice((9, -1))

    def _records(self, topic: str, partition: int) -> memoryview:
        """Never null: to that Kafka gives no answer at all."""
        choice = self.random.random()
        if choice < 0.02:
            return memoryview(batches.large(self.world.base_ms, self.random.choice((999, 100_000, 1_048_600))))
        if choice < 0.15:
            wrong = self.random.choice(list(batches.WRONGS.values()))
            return memoryview(bytes(wrong(batches.build(self.random, self.world.base_ms))))
        if choice < 0.4 and self.world.producers:
            return memoryview(self._idempotent(self.random.choice(self.world.producers), topic, partition))
        return memoryview(batches.build(self.random, self.world.base_ms))

    def _idempotent(self, producer: Producer, topic: str, partition: int) -> bytearray:
        expected = producer.sequences[topic, partition]
        sequence = max(0, expected + self.random.choice((0, 0, 0, 0, 0, -1, 1, -expected)))
        built = batches.build(
            self.random, self.world.base_ms, producer_id=producer.id, base_sequence=sequence,
            producer_epoch=producer.epoch + self.random.choice((0, 0, 0, 0, 0, 0, 0, 1, -1)),
        )  # fmt: skip
        if sequence == expected:
            producer.sequences[topic, partition] += BatchHeader(built).count
        return built

    def _damage(self, body: bytes) -> Damage:
        kinds = [
            Damage(cut_bytes=self.random.randrange(1, len(body) + 1) if body else 0),
            Damage(appended=b"\0" * self.random.randrange(1, 9)),
            Damage(version=self.random.choice((99, -1, 32_767))),
            Damage(api_key=self.random.choice((999, -1, 4, 7))),
        ]
        return self.random.choice(kinds)
