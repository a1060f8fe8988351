"""Topics and partitions, and what records make of them."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from kafkish.metadata import versions
from kafkish.metadata.directories import MIGRATING, UNASSIGNED
from kafkish_protocol.stored.metadata_topics import PartitionChangeRecord, PartitionRecord
from kafkish_protocol.types import Uuid

NO_LEADER: Final = -1
NO_LEADER_CHANGE: Final = -2

RECOVERED: Final = 0
RECOVERING: Final = 1
"""The leader was elected although it might lack records, and has not said yet that it is ready."""
NO_RECOVERY_CHANGE: Final = -1

INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""Written by coordinators, hidden from patterns, and made when first needed."""

Replicas = tuple[int, ...]


class Partition(NamedTuple):
    """Who has a partition's records, and who leads. `directories` go with `replicas`, one for each."""

    replicas: Replicas
    directories: tuple[Uuid, ...]
    isr: Replicas
    leader: int
    leader_epoch: int = 0
    partition_epoch: int = 0
    leader_recovery_state: int = RECOVERED
    removing_replicas: Replicas = ()
    adding_replicas: Replicas = ()
    elr: Replicas = ()  # eligible leader replicas: not in sync, yet with every acknowledged record (KIP-966)
    last_known_elr: Replicas = ()  # since a partition has no leader: who led last

    @property
    def reassigning(self) -> bool:
        """Whether replicas are on the move."""
        return bool(self.removing_replicas or self.adding_replicas)

    @property
    def has_preferred_leader(self) -> bool:
        """Whether the first of the replicas leads."""
        return bool(self.replicas) and self.leader == self.replicas[0]

    def directory_of(self, broker_id: int) -> Uuid:
        """Where a broker keeps its replica."""
        if broker_id not in self.replicas:
            return UNASSIGNED
        return self.directories[self.replicas.index(broker_id)]


class Topic(NamedTuple):
    """A topic with all of its partitions."""

    name: str
    id: Uuid
    partitions: Mapping[int, Partition] = {}


class Topics(NamedTuple):
    """All topics, by id and by name."""

    by_id: Mapping[Uuid, Topic] = {}
    by_name: Mapping[str, Topic] = {}


def partition_from_record(record: PartitionRecord) -> Partition:
    """A partition as a record creates it."""
    return Partition(
        replicas=tuple(record.replicas),
        directories=_directories(record.directories, len(record.replicas)),
        isr=tuple(record.isr),
        leader=record.leader,
        leader_epoch=record.leader_epoch,
        partition_epoch=record.partition_epoch,
        leader_recovery_state=record.leader_recovery_state,
        removing_replicas=tuple(record.removing_replicas),
        adding_replicas=tuple(record.adding_replicas),
        elr=tuple(record.eligible_leader_replicas or ()),
        last_known_elr=tuple(record.last_known_elr or ()),
    )


def partition_to_record(partition: Partition, topic_id: Uuid, index: int, metadata_version: int) -> PartitionRecord:
    """The record that creates a partition as it is, as far as this `metadata.version` can say it."""
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=list(partition.replicas),
        isr=list(partition.isr),
        removing_replicas=list(partition.removing_replicas),
        adding_replicas=list(partition.adding_replicas),
        leader=partition.leader,
        leader_recovery_state=partition.leader_recovery_state,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        directories=list(partition.directories) if metadata_version >= versions.DIRECTORIES else [],
        eligible_leader_replicas=list(partition.elr) or None,
        last_known_elr=list(partition.last_known_elr) or None,
    )


def changed_partition(partition: Partition, record: PartitionChangeRecord) -> Partition:
    """A partition after a change. Every change counts in its epoch; naming a leader, even the same, in the leader's."""
    replicas = _given(record.replicas, partition.replicas)
    directories = partition.directories if record.directories is None else record.directories
    leader_named = record.leader != NO_LEADER_CHANGE
    recovery_named = record.leader_recovery_state != NO_RECOVERY_CHANGE
    return Partition(
        replicas=replicas,
        directories=_directories(directories, len(replicas)),
        isr=_given(record.isr, partition.isr),
        leader=record.leader if leader_named else partition.leader,
        leader_epoch=partition.leader_epoch + leader_named,
        partition_epoch=partition.partition_epoch + 1,
        leader_recovery_state=record.leader_recovery_state if recovery_named else partition.leader_recovery_state,
        removing_replicas=_given(record.removing_replicas, partition.removing_replicas),
        adding_replicas=_given(record.adding_replicas, partition.adding_replicas),
        elr=_given(record.eligible_leader_replicas, partition.elr),
        last_known_elr=_given(record.last_known_elr, partition.last_known_elr),
    )


def _given(wanted: Sequence[int] | None, present: Replicas) -> Replicas:
    return present if wanted is None else tuple(wanted)


def _directories(named: Sequence[Uuid], count: int) -> tuple[Uuid, ...]:
    """One directory for each replica; where none is known, replicas are from a time before directories had ids."""
    if named.count(MIGRATING) == len(named):
        return (MIGRATING,) * count
    if len(named) != count:
        raise ValueError(f"{len(named)} directories for {count} replicas")
    return tuple(named)
