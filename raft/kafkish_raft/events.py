"""What can happen to a replica. Each is an argument of `Raft.step`."""

from typing import NamedTuple, TypeAlias

from kafkish_raft.messages import Request, Response
from kafkish_raft.ports import OffsetAndEpoch
from kafkish_raft.voters import Control, NodeId

Handle: TypeAlias = object  # the caller's own reference to a request that waits for its answer


class Start(NamedTuple):
    """The first event. The control records of the latest snapshot and of the log behind it, in order."""

    controls: tuple[Control, ...] = ()


class Tick:
    """Time passed: `next_deadline_ms` was reached."""

    __slots__ = ()


class RequestReceived(NamedTuple):
    """From a peer, an administrator or the local controller. Answered with Reply, at once or later."""

    request: Request
    handle: Handle


class ResponseReceived(NamedTuple):
    """The answer to the Send of this destination and correlation id; None if there will be none."""

    source: NodeId
    correlation_id: int
    response: Response | None


class AppendRequested(NamedTuple):
    """The controller, leader of `epoch` as it believes, has a batch. Answered with AppendBatch or, if stale, Reply."""

    batch: object
    epoch: int
    handle: Handle


class LogChanged(NamedTuple):
    """The log changed as an effect asked, with these control records appended; or a flush ended."""

    controls: tuple[Control, ...] = ()


class SnapshotInstalled(NamedTuple):
    """An InstallSnapshot was carried out. `controls` are the snapshot's control records."""

    snapshot_id: OffsetAndEpoch
    controls: tuple[Control, ...] = ()


class ResignRequested(NamedTuple):
    """The local controller gives up its leadership of `epoch`."""

    epoch: int


class ShutdownRequested:
    """The node will stop: hand over, start no election. Stop when `Raft.may_stop`, or when patience ends."""

    __slots__ = ()


Event: TypeAlias = (
    Start
    | Tick
    | RequestReceived
    | ResponseReceived
    | AppendRequested
    | LogChanged
    | SnapshotInstalled
    | ResignRequested
    | ShutdownRequested
)
