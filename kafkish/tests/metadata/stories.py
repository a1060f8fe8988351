"""Random but legal metadata records, one after another: what any controller might have written."""

import random
from collections.abc import Callable
from dataclasses import replace

from kafkish.metadata import versions
from kafkish.metadata.delta import MetadataDelta
from kafkish.metadata.image import MetadataImage
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_nodes import (
    BrokerEndpoint,
    BrokerFeature,
    BrokerRegistrationChangeRecord,
    ControllerEndpoint,
    ControllerFeature,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from kafkish_protocol.stored.metadata_security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from kafkish_protocol.stored.metadata_settings import (
    ClientQuotaRecord,
    ConfigRecord,
    EntityData,
    FeatureLevelRecord,
    ProducerIdsRecord,
    ZkMigrationStateRecord,
)
from kafkish_protocol.stored.metadata_topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kafkish_protocol.stored.metadata_transactions import NoOpRecord
from kafkish_protocol.types import Uuid

NAMES = ("a", "b", "c", "d")
NODES = (1, 2, 3, 4)


class Story:
    """Draws records that fit what the delta has seen so far."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def next_record(self, delta: MetadataDelta) -> MetadataRecord:
        """A record that can be replayed on this delta."""
        while True:
            record = self.dice.choice(KINDS)(self, delta)
            if record is not None:
                return record

    def uuid(self) -> Uuid:
        return Uuid(self.dice.randbytes(16))

    def some(self, of: tuple[int, ...] = NODES) -> list[int]:
        return self.dice.sample(of, self.dice.randint(1, len(of)))

    def feature(self, _: MetadataDelta) -> MetadataRecord:
        name = self.dice.choice((versions.GROUP_VERSION, versions.ELR_VERSION, versions.KRAFT_VERSION))
        return FeatureLevelRecord(name=name, feature_level=self.dice.randint(0, 1))

    def register_broker(self, _: MetadataDelta) -> MetadataRecord:
        return RegisterBrokerRecord(
            broker_id=self.dice.choice(NODES),
            incarnation_id=self.uuid(),
            broker_epoch=self.dice.randint(0, 1000),
            end_points=[BrokerEndpoint(name="PLAINTEXT", host="h", port=9092, security_protocol=0)],
            features=[BrokerFeature(name="metadata.version", min_supported_version=7, max_supported_version=30)],
            rack=self.dice.choice((None, "r1")),
            fenced=self.dice.random() < 0.5,
            in_controlled_shutdown=self.dice.random() < 0.2,
            log_dirs=[self.uuid() for _ in range(self.dice.randint(0, 2))],
            cordoned_log_dirs=self.dice.choice((None, [], [self.uuid()])),
        )

    def change_broker(self, delta: MetadataDelta) -> MetadataRecord | None:
        if not delta.brokers.result:
            return None
        broker = self.dice.choice(list(delta.brokers.result.values()))
        change = BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch)
        records: list[MetadataRecord] = [
            UnregisterBrokerRecord(broker_id=broker.id, broker_epoch=broker.epoch),
            FenceBrokerRecord(id=broker.id, epoch=broker.epoch),
            UnfenceBrokerRecord(id=broker.id, epoch=broker.epoch),
            replace(change, fenced=self.dice.choice((-1, 0, 1))),
            replace(change, in_controlled_shutdown=1, log_dirs=[self.uuid()]),
            replace(change, cordoned_log_dirs=[self.uuid()]),
        ]
        return self.dice.choice(records)

    def register_controller(self, _: MetadataDelta) -> MetadataRecord:
        return RegisterControllerRecord(
            controller_id=self.dice.choice(NODES),
            incarnation_id=self.uuid(),
            end_points=[ControllerEndpoint(name="CONTROLLER", host="h", port=9093, security_protocol=0)],
            features=[ControllerFeature(name="metadata.version", min_supported_version=7, max_supported_version=30)],
        )

    def create_topic(self, delta: MetadataDelta) -> MetadataRecord | None:
        free = [name for name in NAMES if delta.topic_names.get(name) is None]
        return TopicRecord(name=self.dice.choice(free), topic_id=self.uuid()) if free else None

    def change_topic(self, delta: MetadataDelta) -> MetadataRecord | None:
        if not delta.topics.result:
            return None
        topic = self.dice.choice(list(delta.topics.result.values()))
        changed = delta.partitions.get(topic.id)
        partitions = topic.partitions if changed is None else changed.result
        draw = self.dice.random()
        if draw < 0.1:
            return RemoveTopicRecord(topic_id=topic.id)
        if draw < 0.2:
            return ClearElrRecord(topic_name=self.dice.choice(("", topic.name)))
        if draw < 0.5 or not partitions:
            return self.new_partition(topic.id, len(partitions))
        return self.changed_partition(topic.id, self.dice.choice(list(partitions)))

    def new_partition(self, topic_id: Uuid, index: int) -> PartitionRecord:
        replicas = self.some()
        return PartitionRecord(
            partition_id=index,
            topic_id=topic_id,
            replicas=replicas,
            isr=replicas[:1],
            leader=replicas[0],
            leader_epoch=0,
            partition_epoch=0,
            directories=[self.uuid() for _ in replicas] if self.dice.random() < 0.5 else [],
            eligible_leader_replicas=self.dice.choice((None, [], replicas[1:])),
        )

    def changed_partition(self, topic_id: Uuid, index: int) -> PartitionChangeRecord:
        change = PartitionChangeRecord(partition_id=index, topic_id=topic_id)
        if self.dice.random() < 0.5:
            change.isr = self.some()
        if self.dice.random() < 0.5:
            change.leader = self.dice.choice((-1, *NODES))
        if self.dice.random() < 0.2:
            change.replicas = self.some()
            change.directories = [self.uuid() for _ in change.replicas]
            change.adding_replicas, change.removing_replicas = self.some(), []
        if self.dice.random() < 0.2:
            change.eligible_leader_replicas, change.last_known_elr = self.some(), self.some()
        if self.dice.random() < 0.2:
            change.leader_recovery_state = self.dice.randint(0, 1)
        return change

    def config(self, _: MetadataDelta) -> MetadataRecord:
        kind, name = self.dice.choice(((2, "a"), (2, "b"), (4, ""), (4, "1"), (32, "g")))
        value = self.dice.choice((None, "1", "2"))
        return ConfigRecord(resource_type=kind, resource_name=name, name=self.dice.choice("xyz"), value=value)

    def quota(self, _: MetadataDelta) -> MetadataRecord:
        kinds = self.dice.choice((["user"], ["client-id", "user"], ["user", "client-id"], ["ip"]))
        entity = [EntityData(entity_type=kind, entity_name=self.dice.choice((None, "n"))) for kind in kinds]
        remove = self.dice.random() < 0.4
        return ClientQuotaRecord(entity=entity, key=self.dice.choice("pq"), value=self.dice.random(), remove=remove)

    def producer_ids(self, delta: MetadataDelta) -> MetadataRecord:
        return ProducerIdsRecord(broker_id=1, broker_epoch=1, next_producer_id=max(0, delta.next_producer_id) + 1000)

    def acl(self, delta: MetadataDelta) -> MetadataRecord:
        if delta.acls.result and self.dice.random() < 0.4:
            return RemoveAccessControlEntryRecord(id=self.dice.choice(list(delta.acls.result)))
        return AccessControlEntryRecord(
            id=self.uuid(), resource_type=2, resource_name="a", principal="User:x", host="*"
        )

    def scram(self, _: MetadataDelta) -> MetadataRecord:
        name, mechanism = self.dice.choice("uv"), self.dice.randint(1, 2)
        if self.dice.random() < 0.4:
            return RemoveUserScramCredentialRecord(name=name, mechanism=mechanism)
        salt = self.dice.randbytes(4)
        return UserScramCredentialRecord(
            name=name, mechanism=mechanism, salt=salt, stored_key=salt, server_key=salt, iterations=4096
        )

    def token(self, _: MetadataDelta) -> MetadataRecord:
        token_id = self.dice.choice("st")
        if self.dice.random() < 0.4:
            return RemoveDelegationTokenRecord(token_id=token_id)
        return DelegationTokenRecord(owner="User:o", requester="User:r", renewers=["User:n"], token_id=token_id)

    def nothing(self, _: MetadataDelta) -> MetadataRecord:
        return self.dice.choice((NoOpRecord(), ZkMigrationStateRecord()))


KINDS: tuple[Callable[[Story, MetadataDelta], MetadataRecord | None], ...] = (
    Story.feature,
    Story.register_broker,
    Story.change_broker,
    Story.register_controller,
    Story.create_topic,
    Story.change_topic,
    Story.change_topic,
    Story.change_topic,
    Story.config,
    Story.quota,
    Story.producer_ids,
    Story.acl,
    Story.scram,
    Story.token,
    Story.nothing,
)


def first_records() -> list[MetadataRecord]:
    """What every log begins with."""
    return [FeatureLevelRecord(name=versions.METADATA_VERSION, feature_level=versions.LATEST_LEVEL)]


def draw_batch(story: Story, image: MetadataImage, count: int) -> list[MetadataRecord]:
    """Records that fit on an image, one after another."""
    delta, records = MetadataDelta(image), []
    for _ in range(count):
        records.append(story.next_record(delta))
        delta.replay(records[-1])
    return records
