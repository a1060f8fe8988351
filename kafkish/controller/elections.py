"""Who leads a partition and who is in sync: the one place where a partition changes.

An operation says what it wishes of a partition (`Wish`); `change` works out everything that follows and makes the
record. In this order:

1. A reassignment ends when all new replicas are in sync; then the old ones go.
2. Who leaves the ISR while it is smaller than `min.insync.replicas` becomes an eligible leader replica: nothing can
   have been acknowledged since without it (KIP-966). An ISR that is large enough needs no eligible ones.
3. A leader is elected: the present one if it can stay, else the first of the replicas that is in sync, or eligible
   where nobody is in sync. Failing that, the last known leader where neither is left; and then, where the topic allows
   an unclean election, anyone alive.
4. The leader epoch grows when a leader is named: another one, or the same when replicas have gone.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple

from kafkish.controller.operation import Context
from kafkish.metadata import versions
from kafkish.metadata.directories import MIGRATING, UNASSIGNED
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.topics import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    NO_RECOVERY_CHANGE,
    RECOVERING,
    Partition,
    Topic,
)
from kafkish_protocol.stored.metadata_topics import PartitionChangeRecord
from kafkish_protocol.types import Uuid


class Election(Enum):
    """How far to go for a leader."""

    ONLINE = auto()  # one that is in sync or eligible; the present one is best
    PREFERRED = auto()  # likewise, but the first replica is best
    UNCLEAN = auto()  # rather one that lacks records than none


class Rules(NamedTuple):
    """What holds for all partitions of a topic while one operation lasts."""

    image: MetadataImage
    min_isr: int
    unclean_election: bool  # `unclean.leader.election.enable`
    removed: frozenset[int] = frozenset()  # brokers that are about to be fenced, whatever the image says
    added: frozenset[int] = frozenset()  # brokers that are about to be unfenced

    def may_lead(self, broker_id: int, directory: Uuid) -> bool:
        """Whether a broker is alive, and has the directory in which its replica is."""
        if broker_id in self.removed or not (broker_id in self.added or self.image.is_active(broker_id)):
            return False
        return self.image.brokers[broker_id].has_online(directory)

    @property
    def election(self) -> Election:
        """What the topic allows when its leader is gone."""
        return Election.UNCLEAN if self.unclean_election else Election.ONLINE


def topic_rules(
    image: MetadataImage, context: Context, topic: Topic, *, removed: Iterable[int] = (), added: Iterable[int] = ()
) -> Rules:
    """The rules for a topic's partitions, from its configs."""
    min_isr = int(context.configs.topic_value(image.configs, topic.name, "min.insync.replicas"))
    unclean = context.configs.topic_value(image.configs, topic.name, "unclean.leader.election.enable")
    return Rules(
        image,
        min_isr=min(min_isr, len(topic.partitions[0].replicas)),
        unclean_election=unclean.lower() == "true",
        removed=frozenset(removed),
        added=frozenset(added),
    )


def default_directory(image: MetadataImage, broker_id: int) -> Uuid:
    """Where a new replica goes: where there is only one directory, the controller knows; else the broker will tell."""
    broker = image.brokers.get(broker_id)
    if image.metadata_version < versions.DIRECTORIES or (broker is not None and not broker.directories):
        return MIGRATING
    return broker.directories[0] if broker is not None and len(broker.directories) == 1 else UNASSIGNED


class Wish(NamedTuple):
    """How a partition should become. None: as it is."""

    isr: Sequence[int] | None = None
    replicas: Sequence[int] | None = None
    removing: Sequence[int] | None = None
    adding: Sequence[int] | None = None
    directories: Mapping[int, Uuid] = {}  # of these brokers
    leader_recovery_state: int | None = None
    uncleanly_stopped: frozenset[int] = frozenset()  # may have lost what they acknowledged: not eligible
    election: Election = Election.ONLINE


def change(topic_id: Uuid, index: int, partition: Partition, wish: Wish, rules: Rules) -> PartitionChangeRecord | None:
    """The record that fulfils a wish, with all that follows from it; None if nothing changes."""
    draft = _Draft(partition, wish, rules)
    draft.complete_reassignment()
    draft.choose_eligible()
    draft.elect_leader()
    record = draft.difference()
    if record == PartitionChangeRecord():
        return None
    record.topic_id, record.partition_id = topic_id, index
    return record


class _Draft:
    """A partition on its way from what it is to what it will be."""

    def __init__(self, partition: Partition, wish: Wish, rules: Rules) -> None:
        self.partition, self.wish, self.rules = partition, wish, rules
        self.elr_enabled = rules.image.features.elr_enabled
        self.isr = list(partition.isr if wish.isr is None else wish.isr)
        self.replicas = list(partition.replicas if wish.replicas is None else wish.replicas)
        self.removing = list(partition.removing_replicas if wish.removing is None else wish.removing)
        self.adding = list(partition.adding_replicas if wish.adding is None else wish.adding)
        self.elr = list(partition.elr)
        self.leader = partition.leader
        self.unclean = False

    def complete_reassignment(self) -> None:
        """Let the old replicas go if the new ones are all in sync."""
        if not self.removing and not self.adding:
            return
        isr = [replica for replica in self.isr if replica not in self.removing]
        replicas = [replica for replica in self.replicas if replica not in self.removing]
        if self.removing and not (isr and replicas):
            return
        # Where fewer replicas come than go, all that stay must be in sync, lest the ISR becomes smaller than need be.
        needed = replicas if len(self.adding) < len(self.removing) else []
        if {*self.adding, *needed} <= set(isr):
            self.isr, self.replicas, self.removing, self.adding = isr, replicas, [], []

    def choose_eligible(self) -> None:
        """Whoever was in sync or eligible and is not in sync any more, as long as too few are."""
        if not self.elr_enabled:
            return
        if len(self.isr) >= self.rules.min_isr:
            self.elr = []
        else:
            gone = set(self.isr) | self.wish.uncleanly_stopped
            self.elr = sorted({*self.elr, *self.partition.isr} - gone)

    def elect_leader(self) -> None:
        """Set the leader. An eligible replica that leads is in sync, alone."""
        self.leader = self._clean_leader()
        if self.leader == NO_LEADER:
            self.leader = self._unclean_leader()
            self.unclean = self.leader != NO_LEADER
        if self.leader == self.partition.leader:
            self.unclean = False
        elif self.unclean:
            self.isr, self.elr = [self.leader], []
        elif self.leader in self.elr:
            self.isr = [self.leader]
            self.elr.remove(self.leader)
        if not self.elr_enabled:
            self.elr = []

    def _clean_leader(self) -> int:
        first_choice = [self.partition.leader]
        if self.wish.election is Election.PREFERRED:
            first_choice.insert(0, self.replicas[0])
        synced = self.isr or self.elr
        for replica in (*first_choice, *self.replicas):
            if replica in synced and self._may_lead(replica):
                return replica
        return NO_LEADER

    def _unclean_leader(self) -> int:
        last_known = self.partition.last_known_elr
        if (
            self.elr_enabled
            and not self.isr
            and not self.elr
            and len(last_known) == 1
            and self._may_lead(last_known[0])
        ):
            return last_known[0]
        if self.wish.election is Election.UNCLEAN:
            return next(filter(self._may_lead, self.replicas), NO_LEADER)
        return NO_LEADER

    def _may_lead(self, replica: int) -> bool:
        return self.rules.may_lead(replica, self.partition.directory_of(replica))

    def difference(self) -> PartitionChangeRecord:
        """What changes, in a record that does not say of which partition."""
        old, version = self.partition, self.rules.image.metadata_version
        isr_may_change = bool(self.isr) or self.elr_enabled  # without eligible replicas, the last in sync is remembered
        isr = self.isr if self.unclean or (isr_may_change and self.isr != list(old.isr)) else None
        leader = self._named_leader(isr)
        directories = self._directories() if version >= versions.DIRECTORIES else None
        return PartitionChangeRecord(
            isr=isr,
            leader=leader,
            replicas=_if_new(self.replicas, old.replicas),
            removing_replicas=_if_new(self.removing, old.removing_replicas),
            adding_replicas=_if_new(self.adding, old.adding_replicas),
            leader_recovery_state=self._recovery(),
            directories=None if directories == list(old.directories) else directories,
            eligible_leader_replicas=_if_new(self.elr, old.elr),
            last_known_elr=self._last_known(leader),
        )

    def _named_leader(self, isr: list[int] | None) -> int:
        old = self.partition
        shrunk = isr is not None and not set(old.isr) <= set(isr)
        bump_on_shrink = self.rules.image.metadata_version < versions.KEEP_EPOCH_ON_ISR_SHRINK
        if self.leader != old.leader or not set(old.replicas) <= set(self.replicas) or (shrunk and bump_on_shrink):
            return self.leader
        return NO_LEADER_CHANGE

    def _last_known(self, leader: int) -> list[int] | None:
        """Remember who led when a partition loses its leader; forget it when there is one again."""
        old = self.partition
        if self.elr_enabled and leader == NO_LEADER != old.leader and not old.last_known_elr:
            return [old.leader]
        return [] if self.elr_enabled and leader >= 0 and old.last_known_elr else None

    def _recovery(self) -> int:
        old, wished = self.partition.leader_recovery_state, self.wish.leader_recovery_state
        wanted = RECOVERING if self.unclean else wished
        return NO_RECOVERY_CHANGE if wanted is None or wanted == old else wanted

    def _directories(self) -> list[Uuid]:
        known = dict(zip(self.partition.replicas, self.partition.directories, strict=True)) | dict(
            self.wish.directories
        )
        return [known.get(id) or default_directory(self.rules.image, id) for id in self.replicas]


def _if_new(wanted: list[int], present: Sequence[int]) -> list[int] | None:
    return None if wanted == list(present) else wanted
