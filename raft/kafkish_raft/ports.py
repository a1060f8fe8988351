"""What the core needs of the world: a log and a place for its vote. Implemented by whoever drives it.

The core only reads through these. Every change is an effect, so that a port never changes while a step runs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, TypeAlias

from kafkish_raft.voters import NodeId, ReplicaKey

Dice: TypeAlias = Callable[[int], int]
"""Chance, injected so that a simulation can repeat it: a number from 0 to `sides` - 1."""


class OffsetAndEpoch(NamedTuple):
    """An end offset and the epoch of the record before it: a log's end, the end of an epoch, or a snapshot's id."""

    offset: int
    epoch: int


BOOTSTRAP_SNAPSHOT: Final = OffsetAndEpoch(0, 0)
"""The snapshot that formatting a directory leaves there. It is never replicated (KIP-853)."""


@dataclass(frozen=True, slots=True)
class ElectionState:
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
