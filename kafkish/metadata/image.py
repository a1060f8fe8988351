"""The image: all that the cluster has agreed on, at one offset of the metadata log.

Nothing here is ever changed. A new image shares with the one before it whatever did not change, so that a reader keeps
an image for as long as it needs one view, and two images are compared part by part with `is`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

from kafkish.metadata.nodes import Broker, Controller
from kafkish.metadata.topics import Partition, Topic, Topics
from kafkish.metadata.versions import ELR_VERSION, METADATA_VERSION
from kafkish_protocol.types import Uuid


class ResourceType(IntEnum):
    """What a config belongs to."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigResource(NamedTuple):
    """One thing that has configs. A broker with an empty name stands for all brokers of the cluster."""

    type: int
    name: str


ALL_BROKERS: Final = ConfigResource(ResourceType.BROKER, "")

Configs: TypeAlias = Mapping[ConfigResource, Mapping[str, str]]

QuotaEntity: TypeAlias = tuple[tuple[str, str | None], ...]
"""Pairs of type and name, in order of the type; None is the default of its type."""


def quota_entity(parts: Iterable[tuple[str, str | None]]) -> QuotaEntity:
    """One order for the same pairs; of a type that is named twice, the last."""
    return tuple(sorted(dict(parts).items()))


class ScramUser(NamedTuple):
    """A user may have one credential for each mechanism: 1 is SCRAM-SHA-256, 2 is SCRAM-SHA-512."""

    mechanism: int
    name: str


@dataclass(frozen=True, slots=True)
class ScramCredential:
    """What a broker keeps of a password."""

    salt: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)
    iterations: int


class Acl(NamedTuple):
    """One rule of access."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


class DelegationToken(NamedTuple):
    """A token by which someone may act for its owner until it expires (KIP-48)."""

    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp_ms: int
    max_timestamp_ms: int
    expiration_timestamp_ms: int


class Features(NamedTuple):
    """Finalized features. `kraft.version` is the quorum's own affair and not among them (KAFKA-18979)."""

    metadata_version: int | None = None  # None until the cluster's first records
    levels: Mapping[str, int] = {}  # all others, where not 0

    def level(self, name: str) -> int:
        """The finalized level; 0 is off."""
        if name == METADATA_VERSION:
            return self.metadata_version or 0
        return self.levels.get(name, 0)

    @property
    def elr_enabled(self) -> bool:
        """Whether eligible leader replicas are kept (KIP-966)."""
        return self.level(ELR_VERSION) >= 1


class Provenance(NamedTuple):
    """The last record that an image contains."""

    offset: int = -1
    epoch: int = -1
    timestamp_ms: int = -1


class MetadataImage(NamedTuple):
    """The cluster's metadata at one offset."""

    provenance: Provenance = Provenance()
    features: Features = Features()
    brokers: Mapping[int, Broker] = {}
    controllers: Mapping[int, Controller] = {}
    topics: Topics = Topics()
    configs: Configs = {}
    client_quotas: Mapping[QuotaEntity, Mapping[str, float]] = {}
    next_producer_id: int = -1  # -1 until the first block is given out
    acls: Mapping[Uuid, Acl] = {}
    scram: Mapping[ScramUser, ScramCredential] = {}
    delegation_tokens: Mapping[str, DelegationToken] = {}

    @property
    def metadata_version(self) -> int:
        """The finalized `metadata.version`; there is none before the first records, and nothing to do then."""
        if self.features.metadata_version is None:
            raise ValueError("the metadata log has no metadata.version yet")
        return self.features.metadata_version

    def topic(self, name: str) -> Topic | None:
        """A topic by its name."""
        return self.topics.by_name.get(name)

    def topic_name(self, topic_id: Uuid) -> str | None:
        """What a topic is called."""
        topic = self.topics.by_id.get(topic_id)
        return None if topic is None else topic.name

    def partition(self, topic_id: Uuid, index: int) -> Partition | None:
        """A partition by its topic's id."""
        topic = self.topics.by_id.get(topic_id)
        return None if topic is None else topic.partitions.get(index)

    def config(self, resource_type: int, name: str) -> Mapping[str, str]:
        """What was set for a resource, and nothing of the defaults."""
        return self.configs.get(ConfigResource(resource_type, name), {})

    def is_active(self, broker_id: int) -> bool:
        """Whether a broker may lead and be in sync."""
        broker = self.brokers.get(broker_id)
        return broker is not None and broker.active


EMPTY: Final = MetadataImage()
