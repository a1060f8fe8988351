"""Committed records on top of an image.

    delta = MetadataDelta(image)
    for offset, record in enumerate(records, start): delta.replay(record, offset)
    update = delta.apply(provenance)     # the new image, and what changed

Replay is the only way in which metadata changes: live, after a restart and on a node that catches up. A record that
cannot be applied is a broken log, and stops the node: `ReplayError`. Metadata transactions are the loader's affair.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final, TypeAlias

from kafkish.metadata import nodes, topics
from kafkish.metadata.changes import Changes, Update
from kafkish.metadata.image import (
    Acl,
    ConfigResource,
    DelegationToken,
    Features,
    MetadataImage,
    Provenance,
    ResourceType,
    ScramCredential,
    ScramUser,
    quota_entity,
)
from kafkish.metadata.overlay import Overlay
from kafkish.metadata.topics import Partition, Topic, Topics
from kafkish.metadata.versions import KRAFT_VERSION, LATEST_LEVEL, METADATA_VERSION, OLDEST_LEVEL
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored import metadata_nodes as node_records
from kafkish_protocol.stored import metadata_security as security_records
from kafkish_protocol.stored import metadata_settings as setting_records
from kafkish_protocol.stored import metadata_topics as topic_records
from kafkish_protocol.stored.metadata_transactions import NoOpRecord
from kafkish_protocol.types import Uuid


class ReplayError(Exception):
    """A committed record does not fit the image: the log is broken, or this software is older than the cluster."""


class MetadataDelta:
    """Changes that add up until they are applied."""

    def __init__(self, image: MetadataImage) -> None:
        self.image = image
        self.metadata_version = image.features.metadata_version
        self.next_producer_id = image.next_producer_id
        self.features = Overlay(image.features.levels)
        self.brokers = Overlay(image.brokers)
        self.controllers = Overlay(image.controllers)
        self.topics = Overlay(image.topics.by_id)
        self.topic_names = Overlay(image.topics.by_name)
        self.partitions: dict[Uuid, Overlay[int, Partition]] = {}  # of topics with changed partitions
        self.configs = Overlay(image.configs)
        self.client_quotas = Overlay(image.client_quotas)
        self.acls = Overlay(image.acls)
        self.scram = Overlay(image.scram)
        self.delegation_tokens = Overlay(image.delegation_tokens)

    def replay(self, record: MetadataRecord, offset: int = -1) -> None:
        """Take in the next record, which stands at `offset`."""
        apply = _REPLAY.get(type(record))
        if apply is None:
            raise ReplayError(f"{record.schema.name} cannot be replayed by itself: {record}")
        try:
            apply(self, record, offset)
        except (KeyError, ValueError) as error:
            raise ReplayError(f"{record} at offset {offset} does not fit the metadata before it: {error}") from error

    def apply(self, provenance: Provenance) -> Update:
        """The new image, and what is new in it."""
        before, changes = self.image, self._changes()
        for topic_id, changed in self.partitions.items():
            self._set_topic(self.topics.result[topic_id]._replace(partitions=changed.result))
        levels = self.features.result
        same_features = levels is before.features.levels and self.metadata_version == before.features.metadata_version
        same_topics = self.topics.result is before.topics.by_id
        after = MetadataImage(
            provenance=provenance,
            features=before.features if same_features else Features(self.metadata_version, levels),
            brokers=self.brokers.result,
            controllers=self.controllers.result,
            topics=before.topics if same_topics else Topics(self.topics.result, self.topic_names.result),
            configs=self.configs.result,
            client_quotas=self.client_quotas.result,
            next_producer_id=self.next_producer_id,
            acls=self.acls.result,
            scram=self.scram.result,
            delegation_tokens=self.delegation_tokens.result,
        )
        return Update(before, after, changes)

    def _changes(self) -> Changes:
        before, present = self.image.topics.by_id.keys(), self.topics.result.keys()
        version_changed = self.metadata_version != self.image.features.metadata_version
        partitions = [(id, index) for id, changed in self.partitions.items() for index in changed.really_changed()]
        return Changes(
            features=self.features.really_changed() | ({METADATA_VERSION} if version_changed else frozenset()),
            brokers=self.brokers.really_changed(),
            controllers=self.controllers.really_changed(),
            created_topics=frozenset(id for id in self.topics.changed if id in present and id not in before),
            deleted_topics=frozenset(id for id in self.topics.changed if id not in present and id in before),
            partitions=frozenset(partitions),
            configs=self.configs.really_changed(),
            client_quotas=self.client_quotas.really_changed(),
            producer_ids=self.next_producer_id != self.image.next_producer_id,
            acls=self.acls.really_changed(),
            scram=self.scram.really_changed(),
            delegation_tokens=self.delegation_tokens.really_changed(),
        )

    def _set_topic(self, topic: Topic) -> None:
        self.topics.set(topic.id, topic)
        self.topic_names.set(topic.name, topic)

    # -- features

    def feature_level(self, record: setting_records.FeatureLevelRecord, _: int) -> None:
        name, level = record.name, record.feature_level
        if name == METADATA_VERSION:
            if not OLDEST_LEVEL <= level <= LATEST_LEVEL:
                raise ValueError(f"this software knows metadata.version {OLDEST_LEVEL} to {LATEST_LEVEL}")
            self.metadata_version = level
        elif name == KRAFT_VERSION:
            pass  # written by mistake in old logs; the quorum keeps it (KAFKA-18979)
        elif level == 0:
            self.features.remove(name)
        else:
            self.features.set(name, level)

    # -- nodes

    def register_broker(self, record: node_records.RegisterBrokerRecord, offset: int) -> None:
        self.brokers.set(record.broker_id, nodes.broker_from_record(record, offset))

    def unregister_broker(self, record: node_records.UnregisterBrokerRecord, _: int) -> None:
        self._broker(record.broker_id, record.broker_epoch)
        self.brokers.remove(record.broker_id)

    def change_broker(self, record: node_records.BrokerRegistrationChangeRecord, _: int) -> None:
        broker = self._broker(record.broker_id, record.broker_epoch)
        self.brokers.set(broker.id, nodes.changed_broker(broker, record))

    def fence_broker(self, record: node_records.FenceBrokerRecord, _: int) -> None:
        self.brokers.set(record.id, replace(self._broker(record.id, record.epoch), fenced=True))

    def unfence_broker(self, record: node_records.UnfenceBrokerRecord, _: int) -> None:
        self.brokers.set(record.id, replace(self._broker(record.id, record.epoch), fenced=False))

    def _broker(self, broker_id: int, epoch: int) -> nodes.Broker:
        broker = self.brokers.get(broker_id)
        if broker is None or broker.epoch != epoch:
            raise ValueError(f"no broker {broker_id} is registered with epoch {epoch}")
        return broker

    def register_controller(self, record: node_records.RegisterControllerRecord, _: int) -> None:
        self.controllers.set(record.controller_id, nodes.controller_from_record(record))

    # -- topics

    def create_topic(self, record: topic_records.TopicRecord, _: int) -> None:
        if self.topic_names.get(record.name) is not None or self.topics.get(record.topic_id) is not None:
            raise ValueError("the topic exists")
        self._set_topic(Topic(record.name, record.topic_id))

    def remove_topic(self, record: topic_records.RemoveTopicRecord, _: int) -> None:
        topic = self.topics.remove(record.topic_id)
        if topic is None:
            raise ValueError("no topic has this id")
        self.topic_names.remove(topic.name)
        self.partitions.pop(topic.id, None)
        self.configs.remove(ConfigResource(ResourceType.TOPIC, topic.name))

    def create_partition(self, record: topic_records.PartitionRecord, _: int) -> None:
        self._partitions_of(record.topic_id).set(record.partition_id, topics.partition_from_record(record))

    def change_partition(self, record: topic_records.PartitionChangeRecord, _: int) -> None:
        partitions = self._partitions_of(record.topic_id)
        partition = partitions.result[record.partition_id]
        partitions.set(record.partition_id, topics.changed_partition(partition, record))

    def clear_elr(self, record: topic_records.ClearElrRecord, _: int) -> None:
        """Of one topic, or of all when it names none."""
        names: Iterable[str] = [record.topic_name] if record.topic_name else list(self.topic_names.result)
        nobody = topic_records.PartitionChangeRecord(eligible_leader_replicas=[], last_known_elr=[])
        for name in names:
            partitions = self._partitions_of(self.topic_names.result[name].id)
            for index, partition in list(partitions.result.items()):
                if partition.elr or partition.last_known_elr:
                    partitions.set(index, topics.changed_partition(partition, nobody))

    def _partitions_of(self, topic_id: Uuid) -> Overlay[int, Partition]:
        if topic_id not in self.partitions:
            self.partitions[topic_id] = Overlay(self.topics.result[topic_id].partitions)
        return self.partitions[topic_id]

    # -- settings

    def set_config(self, record: setting_records.ConfigRecord, _: int) -> None:
        resource = ConfigResource(record.resource_type, record.resource_name)
        values = {**(self.configs.get(resource) or {})}
        if record.value is None:
            values.pop(record.name, None)
        else:
            values[record.name] = record.value
        if values:
            self.configs.set(resource, values)
        else:
            self.configs.remove(resource)

    def set_quota(self, record: setting_records.ClientQuotaRecord, _: int) -> None:
        entity = quota_entity((part.entity_type, part.entity_name) for part in record.entity)
        values = {**(self.client_quotas.get(entity) or {})}
        if record.remove:
            values.pop(record.key, None)
        else:
            values[record.key] = record.value
        if values:
            self.client_quotas.set(entity, values)
        else:
            self.client_quotas.remove(entity)

    def take_producer_ids(self, record: setting_records.ProducerIdsRecord, _: int) -> None:
        if record.next_producer_id <= self.next_producer_id:
            raise ValueError(f"producer ids up to {self.next_producer_id} are given out already")
        self.next_producer_id = record.next_producer_id

    # -- security

    def add_acl(self, record: security_records.AccessControlEntryRecord, _: int) -> None:
        acl = Acl(
            resource_type=record.resource_type,
            resource_name=record.resource_name,
            pattern_type=record.pattern_type,
            principal=record.principal,
            host=record.host,
            operation=record.operation,
            permission_type=record.permission_type,
        )
        self.acls.set(record.id, acl)

    def remove_acl(self, record: security_records.RemoveAccessControlEntryRecord, _: int) -> None:
        if self.acls.remove(record.id) is None:
            raise ValueError("no rule has this id")

    def set_scram(self, record: security_records.UserScramCredentialRecord, _: int) -> None:
        credential = ScramCredential(record.salt, record.stored_key, record.server_key, record.iterations)
        self.scram.set(ScramUser(record.mechanism, record.name), credential)

    def remove_scram(self, record: security_records.RemoveUserScramCredentialRecord, _: int) -> None:
        self.scram.remove(ScramUser(record.mechanism, record.name))

    def set_token(self, record: security_records.DelegationTokenRecord, _: int) -> None:
        token = DelegationToken(
            owner=record.owner,
            requester=record.requester,
            renewers=tuple(record.renewers),
            issue_timestamp_ms=record.issue_timestamp,
            max_timestamp_ms=record.max_timestamp,
            expiration_timestamp_ms=record.expiration_timestamp,
        )
        self.delegation_tokens.set(record.token_id, token)

    def remove_token(self, record: security_records.RemoveDelegationTokenRecord, _: int) -> None:
        self.delegation_tokens.remove(record.token_id)

    def do_nothing(self, record: MetadataRecord, _: int) -> None:
        """A NoOpRecord keeps the high watermark moving; ZooKeeper is gone, and its migration's state with it."""


Replay: TypeAlias = Callable[[MetadataDelta, Any, int], None]

_REPLAY: Final[dict[type[MetadataRecord], Replay]] = {
    setting_records.FeatureLevelRecord: MetadataDelta.feature_level,
    setting_records.ConfigRecord: MetadataDelta.set_config,
    setting_records.ClientQuotaRecord: MetadataDelta.set_quota,
    setting_records.ProducerIdsRecord: MetadataDelta.take_producer_ids,
    setting_records.ZkMigrationStateRecord: MetadataDelta.do_nothing,
    node_records.RegisterBrokerRecord: MetadataDelta.register_broker,
    node_records.UnregisterBrokerRecord: MetadataDelta.unregister_broker,
    node_records.BrokerRegistrationChangeRecord: MetadataDelta.change_broker,
    node_records.FenceBrokerRecord: MetadataDelta.fence_broker,
    node_records.UnfenceBrokerRecord: MetadataDelta.unfence_broker,
    node_records.RegisterControllerRecord: MetadataDelta.register_controller,
    topic_records.TopicRecord: MetadataDelta.create_topic,
    topic_records.RemoveTopicRecord: MetadataDelta.remove_topic,
    topic_records.PartitionRecord: MetadataDelta.create_partition,
    topic_records.PartitionChangeRecord: MetadataDelta.change_partition,
    topic_records.ClearElrRecord: MetadataDelta.clear_elr,
    security_records.AccessControlEntryRecord: MetadataDelta.add_acl,
    security_records.RemoveAccessControlEntryRecord: MetadataDelta.remove_acl,
    security_records.UserScramCredentialRecord: MetadataDelta.set_scram,
    security_records.RemoveUserScramCredentialRecord: MetadataDelta.remove_scram,
    security_records.DelegationTokenRecord: MetadataDelta.set_token,
    security_records.RemoveDelegationTokenRecord: MetadataDelta.remove_token,
    NoOpRecord: MetadataDelta.do_nothing,
}
