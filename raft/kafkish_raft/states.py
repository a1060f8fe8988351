"""The six roles of a replica, what each remembers, and the legal ways between them (KIP-595, KIP-996).

An observer is a replica that is not in the voter set. It is only ever unattached or follower, or resigned and candidate
for as long as it takes to notice that it was removed.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, Final

from kafkish_raft.ports import OffsetAndEpoch
from kafkish_raft.voters import NodeId, ReplicaKey, Voter, VoterSet


class Role(Enum):
    UNATTACHED = "unattached"
    PROSPECTIVE = "prospective"
    CANDIDATE = "candidate"
    LEADER = "leader"
    FOLLOWER = "follower"
    RESIGNED = "resigned"


TRANSITIONS: Final[dict[Role, dict[Role, str]]] = {
    Role.UNATTACHED: {
        Role.UNATTACHED: "learns of a higher epoch without a reachable leader",
        Role.PROSPECTIVE: "election timeout, as voter",
        Role.FOLLOWER: "learns who leads its epoch or a higher one",
    },
    Role.PROSPECTIVE: {
        Role.UNATTACHED: "higher epoch; or pre-vote lost or timed out, and no leader was known",
        Role.CANDIDATE: "a majority granted the pre-vote, or a voter is too old to know pre-votes",
        Role.FOLLOWER: "learns of a leader; or pre-vote lost or timed out, and a leader was known",
    },
    Role.CANDIDATE: {
        Role.UNATTACHED: "learns of a higher epoch",
        Role.PROSPECTIVE: "election timeout",
        Role.LEADER: "a majority granted the vote",
        Role.FOLLOWER: "learns who leads its epoch or a higher one",
    },
    Role.LEADER: {
        Role.UNATTACHED: "learns of a higher epoch",
        Role.FOLLOWER: "learns who leads a higher epoch",
        Role.RESIGNED: "no fetches from a majority, asked to, shutting down, or removed from the voters",
    },
    Role.FOLLOWER: {
        Role.UNATTACHED: "learns of a higher epoch without a reachable leader",
        Role.PROSPECTIVE: "fetch timeout, as voter",
        Role.FOLLOWER: "learns who leads a higher epoch",
    },
    Role.RESIGNED: {
        Role.UNATTACHED: "higher epoch; or election timeout, and it raises the epoch itself",
        Role.PROSPECTIVE: "restarted as the only voter",
        Role.FOLLOWER: "learns who leads a higher epoch",
    },
}
"""A restart begins resigned (it led), candidate (it voted for itself), follower (it knew a leader) or unattached."""


@dataclass(slots=True)
class Tally:
    """The votes of one election, among the voters as they were when it began."""

    voters: VoterSet
    granted: set[NodeId] = field(default_factory=set)
    rejected: set[NodeId] = field(default_factory=set)

    @property
    def is_won(self) -> bool:
        return len(self.granted) >= self.voters.majority

    @property
    def is_lost(self) -> bool:
        return len(self.voters) - len(self.rejected) < self.voters.majority

    def record(self, node_id: NodeId, *, granted: bool) -> None:
        if node_id in self.voters.by_id:
            (self.granted if granted else self.rejected).add(node_id)
            (self.rejected if granted else self.granted).discard(node_id)

    def outstanding(self) -> list[Voter]:
        return [voter for voter in self.voters if voter.key.id not in self.granted | self.rejected]


@dataclass(slots=True)
class Unattached:
    """Knows an epoch, not its leader (or not how to reach it). Asks around."""

    role: ClassVar[Role] = Role.UNATTACHED
    election_deadline_ms: int


@dataclass(slots=True)
class Prospective:
    """Asks whether it would be elected, without disturbing anyone's epoch."""

    role: ClassVar[Role] = Role.PROSPECTIVE
    election_deadline_ms: int
    tally: Tally


@dataclass(slots=True)
class Candidate:
    """Raised the epoch, voted for itself, and asks for votes."""

    role: ClassVar[Role] = Role.CANDIDATE
    election_deadline_ms: int
    tally: Tally


@dataclass(slots=True)
class Download:
    """A snapshot on its way from the leader; `position` bytes of it are written."""

    snapshot_id: OffsetAndEpoch
    position: int = 0


class Follower:
    """Fetches from the leader of its epoch."""

    role: ClassVar[Role] = Role.FOLLOWER

    def __init__(self, fetch_timeout_ms: int, now_ms: int) -> None:
        self._fetch_timeout_ms = fetch_timeout_ms
        self.fetch_deadline_ms = now_ms + fetch_timeout_ms
        self.has_fetched = False
        """A follower that has heard from its leader grants no pre-vote (KIP-996)."""
        self.leader_high_watermark = 0
        """What the leader told; this replica's own is that, as far as its log reaches."""
        self.download: Download | None = None
        self.has_updated_leader = False
        """Under kraft.version 0 a voter tells each new leader its directory id once."""
        self.rest_from_membership(now_ms)

    def note_contact(self, now_ms: int) -> None:
        """The leader answered."""
        self.has_fetched = True
        self.fetch_deadline_ms = now_ms + self._fetch_timeout_ms

    def rest_from_membership(self, now_ms: int) -> None:
        """Look again in a while whether the voter set describes this node rightly."""
        self.membership_deadline_ms = now_ms + 3 * self._fetch_timeout_ms


@dataclass(slots=True)
class Resigned:
    """Led its epoch, does so no longer, and asks the other voters to elect another leader."""

    role: ClassVar[Role] = Role.RESIGNED
    election_deadline_ms: int
    unacknowledged: list[NodeId]
    preferred_candidates: tuple[ReplicaKey, ...]
