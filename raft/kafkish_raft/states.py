"""What a replica remembers in each of its six roles (KIP-595, KIP-996).

An observer is a replica that is not in the voter set: it never begins an election.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from kafkish_raft.events import Handle
from kafkish_raft.messages import UNKNOWN_OFFSET
from kafkish_raft.ports import OffsetAndEpoch, Settings
from kafkish_raft.voters import NO_VOTERS, NodeId, ReplicaKey, Voter, VoterSet, is_same_replica


@dataclass(slots=True)
class Tally:
    """The votes of one election, among the voters as they were when it began."""

    voters: VoterSet
    granted: set[NodeId]
    rejected: set[NodeId] = field(default_factory=set)

    @property
    def is_won(self) -> bool:
        return len(self.granted) >= self.voters.majority

    @property
    def is_lost(self) -> bool:
        return len(self.voters) - len(self.rejected) < self.voters.majority

    def record(self, voter_id: NodeId, *, is_granted: bool) -> None:
        self.granted.discard(voter_id)
        self.rejected.discard(voter_id)
        if voter_id in self.voters.by_id:
            (self.granted if is_granted else self.rejected).add(voter_id)

    def outstanding(self) -> list[Voter]:
        return [voter for voter in self.voters if voter.key.id not in self.granted | self.rejected]


@dataclass(slots=True)
class Unattached:
    """Knows an epoch, not its leader (or not how to reach it). Asks around."""

    election_deadline_ms: int


@dataclass(slots=True)
class Nominee:
    """Asks for votes."""

    election_deadline_ms: int
    tally: Tally


class Prospective(Nominee):
    """Asks whether it would be elected, without disturbing anyone's epoch."""


class Candidate(Nominee):
    """Has raised the epoch and voted for itself."""


class Follower:
    """Fetches from the leader of its epoch."""

    def __init__(self, fetch_timeout_ms: int, now_ms: int) -> None:
        self._fetch_timeout_ms = fetch_timeout_ms
        self.fetch_deadline_ms = now_ms + fetch_timeout_ms
        self.has_fetched = False  # a follower that has heard from its leader grants no pre-vote (KIP-996)
        self.leader_high_watermark = 0  # this replica's own is that, as far as its log reaches
        self.download: OffsetAndEpoch | None = None  # the snapshot on its way from the leader
        self.download_position = 0
        self.has_updated_leader = False  # under kraft.version 0, a voter tells a leader its directory id once
        self.rest_from_membership(now_ms)

    def note_contact(self, now_ms: int) -> None:
        """The leader answered."""
        self.has_fetched = True
        self.fetch_deadline_ms = now_ms + self._fetch_timeout_ms

    def rest_from_membership(self, now_ms: int) -> None:
        """Look again in a while whether the voter set describes this node rightly."""
        self.membership_deadline_ms = now_ms + 3 * self._fetch_timeout_ms


@dataclass(slots=True)
class Progress:
    """How far a replica's fetches have come."""

    key: ReplicaKey
    end_offset: int = UNKNOWN_OFFSET
    last_fetch_ms: int | None = None
    last_caught_up_ms: int | None = None
    leader_end_offset: int = UNKNOWN_OFFSET  # at the last fetch: to reach it is to have been caught up then

    def record(self, fetch_offset: int, leader_end_offset: int, now_ms: int) -> None:
        if fetch_offset >= leader_end_offset:
            self.last_caught_up_ms = now_ms
        elif 0 < self.leader_end_offset <= fetch_offset:
            self.last_caught_up_ms = self.last_fetch_ms
        self.end_offset, self.last_fetch_ms, self.leader_end_offset = fetch_offset, now_ms, leader_end_offset


class VoterChange(NamedTuple):
    """A change of the voter set that someone waits for, and where it ends in the log."""

    handle: Handle
    end_offset: int
    deadline_ms: int


class Leader:
    """Role and accounts of the leader of an epoch."""

    def __init__(self, settings: Settings, epoch_start_offset: int, now_ms: int) -> None:
        self.key = settings.key
        self.epoch_start_offset = epoch_start_offset
        self.is_established = False  # nothing of this epoch is committed: no watermark is told, no voter changed
        self.is_resigning = False
        self.begin_epoch_interval_ms = settings.fetch_timeout_ms // 2  # for voters that do not fetch
        self.begin_epoch_deadline_ms = now_ms
        self.check_quorum_timeout_ms = settings.fetch_timeout_ms * 3 // 2  # longer than followers wait
        self.check_quorum_deadline_ms = now_ms + self.check_quorum_timeout_ms
        self.voters: dict[NodeId, Progress] = {}
        self.observers: dict[ReplicaKey, Progress] = {}
        self.change: VoterChange | None = None
        self.known_voters = NO_VOTERS  # under kraft.version 0, with the directory ids that they told: for the upgrade
        self._max_observers = settings.max_observers
        self._heard: set[NodeId] = set()  # voters, since the last time that a majority was heard

    def set_voters(self, voters: VoterSet) -> None:
        """The voter set changed: progress is kept by key, so that an added observer starts with what it has."""
        former = self.voters
        self.voters = {voter.key.id: self._progress_of(voter.key) for voter in voters}
        self.observers |= {progress.key: progress for progress in former.values() if progress.key != self.key}
        self.observers = {key: progress for key, progress in self.observers.items() if not self.is_voter(key)}
        self._heard.intersection_update(self.voters)

    def _progress_of(self, key: ReplicaKey) -> Progress:
        """What is known of a replica. A static voter may have got a directory id (KIP-853, upgrade)."""
        known = self.voters.get(key.id)
        if known is None or not is_same_replica(known.key, key):
            known = self.observers.get(key, Progress(key))
        known.key = key
        return known

    def is_voter(self, key: ReplicaKey) -> bool:
        progress = self.voters.get(key.id)
        return progress is not None and is_same_replica(progress.key, key)

    def record_fetch(self, key: ReplicaKey, fetch_offset: int, leader_end_offset: int, now_ms: int) -> None:
        """A replica has flushed all below `fetch_offset`."""
        if self.is_voter(key):
            self.voters[key.id].record(fetch_offset, leader_end_offset, now_ms)
        elif key in self.observers or len(self.observers) < self._max_observers:
            self.observers.setdefault(key, Progress(key)).record(fetch_offset, leader_end_offset, now_ms)
        self.record_contact(key, now_ms)

    def record_contact(self, key: ReplicaKey, now_ms: int) -> None:
        """A voter was heard: when a majority was, the leader may stay for another period (check-quorum)."""
        if self.is_voter(key) and key.id != self.key.id:
            self._heard.add(key.id)
        if len(self._heard) + self.is_voter(self.key) > len(self.voters) // 2:
            self._heard.clear()
            self.check_quorum_deadline_ms = now_ms + self.check_quorum_timeout_ms

    def committed_offset(self, flushed_offset: int) -> int:
        """Up to where a majority of the voters has flushed; `flushed_offset` is the leader's own."""
        own = self.voters.get(self.key.id) if self.is_voter(self.key) else None
        offsets = [flushed_offset if voter is own else voter.end_offset for voter in self.voters.values()]
        return sorted(offsets, reverse=True)[len(offsets) // 2]

    def others(self) -> list[Progress]:
        """The other voters, those that are furthest first."""
        others = [progress for node_id, progress in self.voters.items() if node_id != self.key.id]
        return sorted(others, key=lambda progress: -progress.end_offset)

    def silent_voters(self, now_ms: int) -> list[NodeId]:
        """Voters that have not fetched lately: they may not know their leader."""
        since_ms = now_ms - self.begin_epoch_interval_ms
        return [
            other.key.id for other in self.others() if other.last_fetch_ms is None or other.last_fetch_ms <= since_ms
        ]

    def is_caught_up(self, key: ReplicaKey) -> bool:
        """Whether an observer can become a voter without holding up commits: it has the disk that fetched last."""
        own = self.observers.get(key, Progress(key))
        fetches_ms = [other.last_fetch_ms or 0 for other in self.observers.values() if other.key.id == key.id]
        return own.last_caught_up_ms is not None and own.last_fetch_ms == max(fetches_ms)

    def forget_silent_observers(self, now_ms: int) -> None:
        since_ms = now_ms - 300_000
        for key in [key for key, progress in self.observers.items() if (progress.last_fetch_ms or 0) <= since_ms]:
            del self.observers[key]


@dataclass(slots=True)
class Resigned:
    """Led its epoch, does so no longer, and asks the other voters to elect another leader."""

    election_deadline_ms: int
    unacknowledged: list[NodeId]
    preferred_candidates: tuple[ReplicaKey, ...]
