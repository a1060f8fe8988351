"""What can happen to a replica. Each is an argument of `Raft.step`."""

from dataclasses import dataclass
from typing import TypeAlias

from kafkish_raft.messages import Request, Response
from kafkish_raft.ports import OffsetAndEpoch
from kafkish_raft.voters import Control, NodeId

Handle: TypeAlias = object  # the caller's own reference to a request that waits for its answer


class Event:
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Start(Event):
    """The first event. The control records of the latest snapshot and of the log behind it, in order."""

    controls: tuple[Control, ...] = ()


class Tick(Event):
    """Time passed: `next_deadline_ms` was reached."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class RequestReceived(Event):
    """From a peer, an administrator or the local controller. Answered with Reply, at once or later."""

    request: Request
    handle: Handle


@dataclass(frozen=True, slots=True)
class ResponseReceived(Event):
    """The answer to the Send of this destination and correlation id; None if there will be none."""

    source: NodeId
    correlation_id: int
    response: Response | None


@dataclass(frozen=True, slots=True)
class AppendRequested(Event):
    """The controller, leader of `epoch` as it believes, has a batch. Answered with AppendBatch or, if stale, Reply."""

    batch: object
    epoch: int
    handle: Handle


@dataclass(frozen=True, slots=True)
class LogChanged(Event):
    """The log changed as an effect asked, with these control records appended; or a flush ended."""

    controls: tuple[Control, ...] = ()


@dataclass(frozen=True, slots=True)
class SnapshotInstalled(Event):
    """An InstallSnapshot was carried out. `controls` are the snapshot's control records."""

    snapshot_id: OffsetAndEpoch
    controls: tuple[Control, ...] = ()


@dataclass(frozen=True, slots=True)
class ResignRequested(Event):
    """The local controller gives up its leadership of `epoch`."""

    epoch: int


class ShutdownRequested(Event):
    """The node will stop: hand over, start no election. Stop when `Raft.may_stop`, or when patience ends."""

    __slots__ = ()
