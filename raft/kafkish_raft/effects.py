"""What a replica asks of its caller, as data. Their order is part of their meaning.

Carry out the effects of a step in the order given, before the next step. If one can not be carried out, the node stops:
what follows must not happen. So PersistElection stands before every message that tells of it: a vote is on disk before
anyone hears of it.

After AppendControl, AppendBatch, AppendFetched or Truncate, the next event is LogChanged. Flushing may take its time
and ends with another LogChanged; InstallSnapshot may too, and ends with SnapshotInstalled.
"""

from collections.abc import Sized
from typing import NamedTuple, TypeAlias

from kafkish_raft.events import Handle
from kafkish_raft.messages import Request, Response
from kafkish_raft.ports import ElectionState, OffsetAndEpoch
from kafkish_raft.voters import ControlRecord, Endpoints, NodeId


class PersistElection(NamedTuple):
    """Write the file `quorum-state` and sync it, before anything that follows."""

    election: ElectionState


class AppendControl(NamedTuple):
    """As leader: append one control batch of these records at `base_offset`, and flush."""

    base_offset: int
    epoch: int
    records: tuple[ControlRecord, ...]


class AppendBatch(NamedTuple):
    """As leader: append the controller's batch at `base_offset` with this epoch, and flush.

    It is committed when a HighWatermark lies above its last offset; if leadership is lost before, its fate is unknown.
    """

    base_offset: int
    epoch: int
    batch: object
    handle: Handle


class AppendFetched(NamedTuple):
    """As follower: append these records of the leader, and flush.

    Take only whole, sound batches that start at the log's end and whose epoch is not above `epoch`. A node that can
    never become a voter may count them as flushed at once.
    """

    epoch: int
    records: Sized


class Truncate(NamedTuple):
    """Remove all records from `end_offset` on."""

    end_offset: int


class WriteSnapshotChunk(NamedTuple):
    """Write a piece of the leader's snapshot at this position. Position 0 starts the file anew."""

    snapshot_id: OffsetAndEpoch
    position: int
    data: Sized


class InstallSnapshot(NamedTuple):
    """The download is complete: sync and rename it, empty the log so that it starts at the snapshot's end."""

    snapshot_id: OffsetAndEpoch


class Send(NamedTuple):
    """Send to a peer; never wait for it, nor let one peer's queue delay another's. Answered with ResponseReceived."""

    destination: NodeId
    endpoints: Endpoints
    correlation_id: int
    request: Request


class Reply(NamedTuple):
    """Answer the request of this handle. A ReadFrom among the records is for the caller to replace."""

    handle: Handle
    response: Response


class HighWatermark(NamedTuple):
    """Records below this offset are committed: apply them, answer those who wait for them."""

    offset: int


class LeaderChanged(NamedTuple):
    """What this node knows of the leader has changed.

    It leads itself if, and only if, there is a `start_offset`: the active controller begins when all below is applied.
    """

    epoch: int
    leader_id: NodeId | None
    endpoints: Endpoints
    start_offset: int | None = None


Effect: TypeAlias = (
    PersistElection
    | AppendControl
    | AppendBatch
    | AppendFetched
    | Truncate
    | WriteSnapshotChunk
    | InstallSnapshot
    | Send
    | Reply
    | HighWatermark
    | LeaderChanged
)
