"""A cluster of records: runs operations, commits what they return, and checks that all is in order afterwards."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from kafkish.controller.bootstrap import bootstrap_levels, bootstrap_records
from kafkish.controller.broker_heartbeat import broker_heartbeat
from kafkish.controller.broker_registration import broker_registration
from kafkish.controller.features import KAFKA_FEATURES
from kafkish.controller.operation import Context, Result, Settings, random_uuid
from kafkish.controller.sessions import Sessions
from kafkish.metadata.image import MetadataImage, Provenance
from kafkish.metadata.loader import MetadataLoader
from kafkish.metadata.records import decode_record, encode_record, record_version
from kafkish.metadata.snapshot import snapshot_records
from kafkish.metadata.topics import NO_LEADER, Partition
from kafkish.metadata.versions import ELR_VERSION
from kafkish.tests.controller.fake_configs import FakeConfigs
from kafkish_protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kafkish_protocol.messages.broker_registration import BrokerRegistrationRequest, Feature, Listener
from kafkish_protocol.schema import MetadataRecord, Request, Response
from kafkish_protocol.types import Uuid

ResponseT = TypeVar("ResponseT", bound=Response)

CLUSTER_ID = "test-cluster"
FEATURES = [
    Feature(name=name, min_supported_version=low, max_supported_version=high)
    for name, (low, high) in KAFKA_FEATURES.items()
]


def directory(number: int) -> Uuid:
    return Uuid(number.to_bytes(1, "big") * 16)


class Cluster:
    """The active controller's view, and the brokers that it hears of."""

    def __init__(self, *brokers: int, seed: int = 0, elr: bool = True, directories_each: int = 1) -> None:
        self.dice = random.Random(seed)
        self.loader = MetadataLoader()
        self.sessions = Sessions()
        self.now_ms = 1_000
        self.directories_each = directories_each
        self.settings = Settings(CLUSTER_ID, 1, frozenset({1}), KAFKA_FEATURES, default_replication_factor=1)
        self.check = True
        self.commit(bootstrap_records(bootstrap_levels(KAFKA_FEATURES, {ELR_VERSION: int(elr)}), min_isr=1))
        for broker_id in brokers:
            self.join(broker_id)

    @property
    def image(self) -> MetadataImage:
        return self.loader.image

    def context(self, **changes: Any) -> Context:
        made = Context(
            settings=self.settings,
            configs=FakeConfigs(),
            dice=self.dice,
            new_uuid=lambda: random_uuid(self.dice.randbytes),
            api_version=0,
            now_ms=self.now_ms,
            next_offset=self.image.provenance.offset + 1,
            sessions=self.sessions,
        )
        return replace(made, **changes)

    def run(
        self,
        operation: Callable[[MetadataImage, Any, Context], Result[ResponseT]],
        request: Request,
        version: int | None = None,
        **context: Any,
    ) -> ResponseT:
        """Do it, commit it, and return the response as a client of that version would read it."""
        version = request.schema.versions.high if version is None else version
        before = self.image
        result = operation(before, request, self.context(api_version=version, **context))
        assert self.image is before
        self.commit(result.records)
        return type(result.response).decode(result.response.encode(version), version)

    def commit(self, records: list[MetadataRecord]) -> None:
        """Through the bytes of the log, as the records would go."""
        if not records:
            return
        before = self.image
        level = before.features.metadata_version or 30
        stored = [encode_record(record, record_version(record, level)) for record in records]
        again = [decode_record(data)[0] for data in stored]
        assert again == records
        self.loader.load_batch(again, base_offset=before.provenance.offset + 1, epoch=1, timestamp_ms=self.now_ms)
        if self.check:
            check_invariants(self.image)
            check_progress(before, self.image)

    def join(self, broker_id: int, *, rack: str | None = None, previous_epoch: int = -1, version: int = 4) -> int:
        """Register a new incarnation, and let it heartbeat until it is unfenced."""
        epoch = self.register(broker_id, rack=rack, previous_epoch=previous_epoch, version=version)
        self.heartbeat(broker_id)
        return epoch

    def register(self, broker_id: int, *, rack: str | None = None, previous_epoch: int = -1, version: int = 4) -> int:
        first = broker_id * 10
        request = BrokerRegistrationRequest(
            broker_id=broker_id,
            cluster_id=CLUSTER_ID,
            incarnation_id=random_uuid(self.dice.randbytes),
            listeners=[Listener(name="PLAINTEXT", host="127.0.0.1", port=9000 + broker_id)],
            features=FEATURES,
            rack=rack,
            log_dirs=[directory(first + number) for number in range(self.directories_each)],
            previous_broker_epoch=previous_epoch,
        )
        self.sessions.forget(broker_id)
        response = self.run(broker_registration, request, version)
        assert response.error_code == 0
        return response.broker_epoch

    def heartbeat(self, broker_id: int, **changes: Any) -> BrokerHeartbeatResponse:
        """A heartbeat of a broker that has replayed all."""
        offset = self.image.provenance.offset
        epoch = self.image.brokers[broker_id].epoch
        request = BrokerHeartbeatRequest(broker_id=broker_id, broker_epoch=epoch, current_metadata_offset=offset)
        request = replace(request, **changes)
        response = self.run(broker_heartbeat, request)
        if response.error_code == 0:
            self.sessions.heard(request, response, self.image.provenance.offset, self.now_ms)
        return response

    def partition(self, topic: str, index: int = 0) -> Partition:
        return self.image.topics.by_name[topic].partitions[index]


def partitions(image: MetadataImage) -> Iterator[tuple[str, int, Partition]]:
    for topic in image.topics.by_id.values():
        for index, partition in topic.partitions.items():
            yield topic.name, index, partition


def check_invariants(image: MetadataImage) -> None:
    """What holds in every image."""
    assert {topic.name: topic for topic in image.topics.by_id.values()} == image.topics.by_name
    for name, index, it in partitions(image):
        where = f"{name}-{index}: {it}"
        assert it.leader == NO_LEADER or it.leader in it.isr, where
        assert it.leader == NO_LEADER or image.is_active(it.leader), where
        assert set(it.isr) <= set(it.replicas), where
        assert len({*it.replicas}) == len(it.replicas) == len(it.directories), where
        assert len({*it.isr}) == len(it.isr), where
        assert not {*it.isr} & {*it.elr}, where
        assert {*it.elr} <= {*it.replicas}, where
        assert {*it.adding_replicas} <= {*it.replicas}, where
        assert {*it.removing_replicas} <= {*it.replicas}, where
        assert it.leader == NO_LEADER or not it.last_known_elr, where
    for topic in image.topics.by_id.values():
        assert sorted(topic.partitions) == list(range(len(topic.partitions)))
    snapshot = MetadataLoader().load_snapshot(snapshot_records(image), Provenance(*image.provenance))
    assert snapshot.after == image


def check_progress(before: MetadataImage, after: MetadataImage) -> None:
    """What holds from one image to the next."""
    for topic_id, topic in after.topics.by_id.items():
        for index, new in topic.partitions.items():
            old = before.partition(topic_id, index)
            if old is None or old == new:
                continue
            assert new.partition_epoch > old.partition_epoch
            assert new.leader_epoch >= old.leader_epoch
            gone = set(old.replicas) - set(new.replicas)
            if new.leader != old.leader or gone:
                assert new.leader_epoch > old.leader_epoch, f"{old} -> {new}"
            if new.leader == old.leader and not gone and new.partition_epoch == old.partition_epoch + 1:
                assert new.leader_epoch == old.leader_epoch, f"{old} -> {new}"
    assert after.next_producer_id >= before.next_producer_id
