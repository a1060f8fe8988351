"""What can happen to a replica. Each is an argument of `Raft.step`."""

from dataclasses import dataclass
from typing import TypeAlias

from kafkish_raft.messages import Request, Response
from kafkish_raft.ports import OffsetAndEpoch
from kafkish_raft.voters import Control, NodeId

Handle: TypeAlias = object
"""The caller's own reference to a request that waits for its answer. Opaque here."""


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
    """The answer to a Send to this node with this correlation id."""

    source: NodeId
    correlation_id: int
    response: Response


@dataclass(frozen=True, slots=True)
class RequestFailed(Event):
    """A Send to this node got no answer: refused, disconnected or timed out."""

    source: NodeId
    correlation_id: int


@dataclass(frozen=True, slots=True)
class AppendRequested(Event):
    """The controller has a batch. Answered with AppendBatch or Refused.

    `epoch` is the one in which it believes to be leader: a stale one is refused.
    """

    batch: object
    epoch: int
    handle: Handle


@dataclass(frozen=True, slots=True)
class LogChanged(Event):
    """Append or truncation was carried out, with these control records appended. Also told if it failed."""

    controls: tuple[Control, ...] = ()


class LogFlushed(Event):
    """A flush ended: `Log.flushed_offset` has moved."""

    __slots__ = ()


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
