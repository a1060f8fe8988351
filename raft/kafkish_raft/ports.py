"""What the core is given: settings, chance, a log and a place for its vote. Implemented by whoever drives it.

The core only reads through these. Every change is an effect, so that a port never changes while a step runs.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol, TypeAlias

from kafkish_raft.voters import NO_VOTERS, Endpoints, NodeId, ReplicaKey, Voter, VoterSet

Dice: TypeAlias = Callable[[int], int]  # a number from 0 to `sides` - 1; a simulation can repeat it


class Settings(NamedTuple):
    """Who this is, whom it may ask, how long it waits: `controller.quorum.*`. Defaults are Kafka 4.3's."""

    key: ReplicaKey
    endpoints: Endpoints = ()
    static_voters: VoterSet = NO_VOTERS  # `controller.quorum.voters`: as long as the log has no voter set
    bootstrap_servers: Endpoints = ()  # `controller.quorum.bootstrap.servers`: whom to ask; else the static voters
    auto_join: bool = False  # an observer asks to become a voter
    election_timeout_ms: int = 1_000
    fetch_timeout_ms: int = 2_000
    election_backoff_max_ms: int = 1_000
    request_timeout_ms: int = 2_000
    retry_backoff_ms: int = 20
    fetch_max_wait_ms: int = 500
    fetch_max_bytes: int = 1 << 20
    fetch_snapshot_max_bytes: int = 1 << 20
    max_observers: int = 1_000  # that a leader keeps an account of, and fetches that it holds back

    @property
    def voter(self) -> Voter:
        """This node as its voter record should describe it."""
        return Voter(self.key, self.endpoints)

    def asked_for_leader(self) -> list[tuple[NodeId, Endpoints]]:
        """Nodes to ask for the leader. Servers whose ids are unknown get ids from -2 down, as in Kafka."""
        if self.bootstrap_servers:
            return [(-2 - index, (server,)) for index, server in enumerate(self.bootstrap_servers)]
        return [(voter.key.id, voter.endpoints) for voter in self.static_voters if voter.key.id != self.key.id]


class OffsetAndEpoch(NamedTuple):
    """An end offset and the epoch of the record before it: a log's end, the end of an epoch, or a snapshot's id."""

    offset: int
    epoch: int


BOOTSTRAP_SNAPSHOT: Final = OffsetAndEpoch(0, 0)  # made by formatting, and never replicated (KIP-853)


class ElectionState(NamedTuple):
    """What must survive a crash: the epoch, its leader if known, and the vote that was given in it."""

    epoch: int = 0
    leader_id: NodeId | None = None
    voted_key: ReplicaKey | None = None


class VoteStore(Protocol):
    """The file `quorum-state`. Written by the effect PersistElection."""

    def read(self) -> ElectionState | None:
        """What was written last; None in a new directory."""


class Log(Protocol):
    """The metadata log and its snapshots, as they are now.

    A log that is opened with a snapshot that ends behind the log's own end must start at that snapshot.
    """

    @property
    def start_offset(self) -> int:
        """The first offset. Above zero, it is the end offset of `earliest_snapshot`."""

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""

    @property
    def flushed_offset(self) -> int:
        """Records below this survive a crash. A flush counts only what was appended before it began."""

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record; that of the latest snapshot if there is none; else 0."""

    @property
    def earliest_snapshot(self) -> OffsetAndEpoch | None: ...

    @property
    def latest_snapshot(self) -> OffsetAndEpoch | None: ...

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        """The largest epoch of the log that is not above `epoch`, and where it ends.

        The snapshot at the log's start counts as an epoch that ends there. If all epochs are larger: `epoch` itself,
        ending where the log starts.
        """

    def snapshot_size_bytes(self, snapshot_id: OffsetAndEpoch) -> int | None:
        """None if there is no such snapshot."""


class Located(NamedTuple):
    """Where another log parts from this one, or the snapshot that it must start from. Neither: it is a prefix."""

    diverging_epoch: OffsetAndEpoch | None = None
    snapshot_id: OffsetAndEpoch | None = None


PREFIX: Final = Located()


def locate(log: Log, offset: int, epoch: int) -> Located:
    """Compare a log that ends at (`offset`, `epoch`) with this one: the heart of Fetch (KIP-595, KIP-630)."""
    start_offset, earliest = log.start_offset, log.earliest_snapshot
    if offset == start_offset == 0:
        return PREFIX
    if earliest is not None and (
        offset < start_offset or epoch < earliest.epoch or (offset == start_offset and epoch != earliest.epoch)
    ):
        return Located(snapshot_id=log.latest_snapshot)
    end = log.end_offset_for_epoch(epoch)
    return PREFIX if end.epoch == epoch and offset <= end.offset else Located(diverging_epoch=end)
