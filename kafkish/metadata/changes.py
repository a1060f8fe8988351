"""What is new in an image: the keys to look at, in the image before and in the image after."""

from collections.abc import Hashable, Mapping
from typing import NamedTuple, TypeAlias, TypeVar

from kafkish.metadata.image import ConfigResource, Features, MetadataImage, QuotaEntity, ScramUser
from kafkish.metadata.topics import Partition, Topics
from kafkish.metadata.versions import METADATA_VERSION
from kafkish_protocol.types import Uuid

PartitionId: TypeAlias = tuple[Uuid, int]

KeyT = TypeVar("KeyT", bound=Hashable)


class Changes(NamedTuple):
    """Keys of what was added, removed or altered between two images."""

    features: frozenset[str] = frozenset()
    brokers: frozenset[int] = frozenset()
    controllers: frozenset[int] = frozenset()
    created_topics: frozenset[Uuid] = frozenset()
    deleted_topics: frozenset[Uuid] = frozenset()
    partitions: frozenset[PartitionId] = frozenset()  # new or altered; not those of deleted topics
    configs: frozenset[ConfigResource] = frozenset()
    client_quotas: frozenset[QuotaEntity] = frozenset()
    producer_ids: bool = False
    acls: frozenset[Uuid] = frozenset()
    scram: frozenset[ScramUser] = frozenset()
    delegation_tokens: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return any(iter(self))


class Update(NamedTuple):
    """A new image, the one before it, and the difference."""

    before: MetadataImage
    after: MetadataImage
    changes: Changes


class LocalReplicas(NamedTuple):
    """What changes for the replicas on one broker. Topics are in the image before (`removed`) or after (the others)."""

    leaders: Mapping[PartitionId, Partition]
    elected: frozenset[PartitionId]  # of the leaders, those with a new leader epoch
    followers: Mapping[PartitionId, Partition]
    removed: frozenset[PartitionId]


def local_replicas(update: Update, broker_id: int) -> LocalReplicas:
    """What a broker has to do to its own replicas after an update."""
    leaders, followers, elected, removed = {}, {}, set(), set()
    for key in update.changes.partitions:
        before, after = update.before.partition(*key), update.after.partition(*key)
        assert after is not None, "changed partitions exist"
        if broker_id not in after.replicas:
            if before is not None and broker_id in before.replicas:
                removed.add(key)
        elif after.leader != broker_id:
            followers[key] = after
        else:
            leaders[key] = after
            if before is None or before.leader_epoch != after.leader_epoch:
                elected.add(key)
    for topic_id in update.changes.deleted_topics:
        partitions = update.before.topics.by_id[topic_id].partitions
        removed.update((topic_id, index) for index, it in partitions.items() if broker_id in it.replicas)
    return LocalReplicas(leaders, frozenset(elected), followers, frozenset(removed))


def difference(before: MetadataImage, after: MetadataImage) -> Changes:
    """Compare two images key by key: after a snapshot there is nothing else to go by."""
    return Changes(
        features=_features(before.features, after.features),
        brokers=_keys(before.brokers, after.brokers),
        controllers=_keys(before.controllers, after.controllers),
        created_topics=frozenset(after.topics.by_id.keys() - before.topics.by_id.keys()),
        deleted_topics=frozenset(before.topics.by_id.keys() - after.topics.by_id.keys()),
        partitions=_partitions(before.topics, after.topics),
        configs=_keys(before.configs, after.configs),
        client_quotas=_keys(before.client_quotas, after.client_quotas),
        producer_ids=before.next_producer_id != after.next_producer_id,
        acls=_keys(before.acls, after.acls),
        scram=_keys(before.scram, after.scram),
        delegation_tokens=_keys(before.delegation_tokens, after.delegation_tokens),
    )


def _keys(before: Mapping[KeyT, object], after: Mapping[KeyT, object]) -> frozenset[KeyT]:
    if before is after:
        return frozenset()
    return frozenset(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))


def _features(before: Features, after: Features) -> frozenset[str]:
    other = _keys(before.levels, after.levels)
    return other if before.metadata_version == after.metadata_version else other | {METADATA_VERSION}


def _partitions(before: Topics, after: Topics) -> frozenset[PartitionId]:
    found: set[PartitionId] = set()
    for topic_id, topic in after.by_id.items():
        old = before.by_id.get(topic_id)
        if old is not topic:
            changed = _keys(old.partitions if old else {}, topic.partitions)
            found.update((topic_id, index) for index in changed)
    return frozenset(found)
