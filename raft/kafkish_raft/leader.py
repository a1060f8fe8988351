"""What a leader knows of the other replicas: how far they are, who was heard lately, what is therefore committed."""

from dataclasses import dataclass
from typing import ClassVar

from kafkish_raft.events import Handle
from kafkish_raft.messages import UNKNOWN_OFFSET, Response
from kafkish_raft.settings import Settings
from kafkish_raft.states import Role
from kafkish_raft.voters import NO_VOTERS, NodeId, ReplicaKey, VoterSet, is_same_replica


@dataclass(slots=True)
class Progress:
    """How far a replica's fetches have come."""

    key: ReplicaKey
    end_offset: int = UNKNOWN_OFFSET
    last_fetch_ms: int | None = None
    last_caught_up_ms: int | None = None
    leader_end_offset: int = UNKNOWN_OFFSET
    """The leader's end at the last fetch: reaching it means to have been caught up then."""

    def record(self, fetch_offset: int, leader_end_offset: int, now_ms: int) -> None:
        if fetch_offset >= leader_end_offset:
            self.last_caught_up_ms = now_ms
        elif 0 < self.leader_end_offset <= fetch_offset:
            self.last_caught_up_ms = self.last_fetch_ms
        self.end_offset, self.last_fetch_ms, self.leader_end_offset = fetch_offset, now_ms, leader_end_offset


@dataclass(slots=True)
class VoterChange:
    """A change of the voter set that someone waits for."""

    handle: Handle
    kind: type[Response]
    end_offset: int
    """Where its records end in the log."""
    deadline_ms: int


class Leader:
    """Role and accounts of the leader of an epoch."""

    role: ClassVar[Role] = Role.LEADER

    def __init__(self, settings: Settings, epoch_start_offset: int, now_ms: int) -> None:
        self.settings = settings
        self.key = settings.key
        self.epoch_start_offset = epoch_start_offset
        self.is_established = False
        """Whether a record of this epoch is committed. Before, no high watermark is told and no voter changed."""
        self.is_resigning = False
        self.begin_epoch_deadline_ms = now_ms
        self.check_quorum_deadline_ms = now_ms + settings.check_quorum_timeout_ms
        self.voters: dict[NodeId, Progress] = {}
        self.observers: dict[ReplicaKey, Progress] = {}
        self.change: VoterChange | None = None
        self.known_voters = NO_VOTERS
        """Under kraft.version 0, the voters with the directory ids that they told: what an upgrade will write."""
        self._heard: set[NodeId] = set()
        """Voters heard since the last time that a majority was."""

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
        elif key in self.observers or len(self.observers) < self.settings.max_observers:
            self.observers.setdefault(key, Progress(key)).record(fetch_offset, leader_end_offset, now_ms)
        self.record_contact(key, now_ms)

    def record_contact(self, key: ReplicaKey, now_ms: int) -> None:
        """A voter was heard: when a majority was, the leader may stay for another period (check-quorum)."""
        if self.is_voter(key) and key.id != self.key.id:
            self._heard.add(key.id)
        needed = len(self.voters) // 2 + 1 - self.is_voter(self.key)
        if len(self._heard) >= needed:
            self._heard.clear()
            self.check_quorum_deadline_ms = now_ms + self.settings.check_quorum_timeout_ms

    def committed_offset(self, flushed_offset: int) -> int:
        """Up to where a majority of the voters has flushed; `flushed_offset` is the leader's own."""
        own_id = self.key.id if self.is_voter(self.key) else None
        offsets = [
            flushed_offset if node_id == own_id else progress.end_offset for node_id, progress in self.voters.items()
        ]
        return sorted(offsets, reverse=True)[len(offsets) // 2]

    def silent_voters(self, now_ms: int) -> list[NodeId]:
        """Voters that have not fetched lately: they may not know their leader."""
        since_ms = now_ms - self.settings.begin_epoch_interval_ms
        return [
            node_id
            for node_id, progress in self.voters.items()
            if node_id != self.key.id and (progress.last_fetch_ms is None or progress.last_fetch_ms <= since_ms)
        ]

    def preferred_candidates(self) -> tuple[ReplicaKey, ...]:
        """The other voters, those that are furthest first."""
        others = [progress for node_id, progress in self.voters.items() if node_id != self.key.id]
        others.sort(key=lambda progress: -progress.end_offset)
        return tuple(progress.key for progress in others)

    def is_caught_up(self, key: ReplicaKey, now_ms: int) -> bool:
        """Whether an observer can become a voter without holding up commits: it was caught up, and is there."""
        progress = self.observers.get(key)
        if progress is None or progress.last_caught_up_ms is None or progress.last_fetch_ms is None:
            return False
        return progress.last_fetch_ms > now_ms - 3_600_000

    def forget_silent_observers(self, now_ms: int) -> None:
        since_ms = now_ms - self.settings.observer_session_ms
        self.observers = {
            key: progress for key, progress in self.observers.items() if (progress.last_fetch_ms or 0) > since_ms
        }
