"""A disk: log, snapshots and vote. It implements the ports, and forgets what was not flushed when power fails."""

from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from kafkish_raft.ports import ElectionState, OffsetAndEpoch
from kafkish_raft.voters import Control, ControlRecord, DirectoryId, KRaftVersion, Voters, VoterSet


class Entry(NamedTuple):
    """One record. `uid` is unique in a run, so that two records are the same only if they are one."""

    epoch: int
    uid: int
    control: ControlRecord | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state machine at a point: what it has applied is told by a digest."""

    snapshot_id: OffsetAndEpoch
    digest: int
    version: int
    voters: VoterSet | None
    data: bytes

    def controls(self) -> tuple[Control, ...]:
        offset = self.snapshot_id.offset - 1
        version = Control(offset, KRaftVersion(self.version))
        return (version,) if self.voters is None else (version, Control(offset, Voters(self.voters)))


class Disk:
    """Everything below `flushed_offset`, every snapshot and the last vote survive a crash."""

    def __init__(self, directory_id: DirectoryId, bootstrap: Snapshot | None = None) -> None:
        self.directory_id = directory_id
        self.election: ElectionState | None = None
        self.entries: list[Entry] = []
        self.start_offset = 0
        self.end_offset = 0
        self.flushed_offset = 0
        self.flush_generation = 0
        """Raised by truncation: a flush that began before tells nothing about what came after."""
        self.snapshots: list[Snapshot] = [bootstrap] if bootstrap else []
        self._epochs: list[int] = []
        self._epoch_starts: list[int] = []

    # -- ports

    def read(self) -> ElectionState | None:
        return self.election

    @property
    def last_epoch(self) -> int:
        if self._epochs:
            return self._epochs[-1]
        return self.snapshots[-1].snapshot_id.epoch if self.snapshots else 0

    @property
    def earliest_snapshot(self) -> OffsetAndEpoch | None:
        return self.snapshots[0].snapshot_id if self.snapshots else None

    @property
    def latest_snapshot(self) -> OffsetAndEpoch | None:
        return self.snapshots[-1].snapshot_id if self.snapshots else None

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        index = bisect_right(self._epochs, epoch)
        end = self._epoch_starts[index] if index < len(self._epochs) else self.end_offset
        if index > 0:
            return OffsetAndEpoch(end, self._epochs[index - 1])
        if self.start_offset > 0 and self.snapshots[0].snapshot_id.epoch <= epoch:
            return self.snapshots[0].snapshot_id
        return OffsetAndEpoch(self.start_offset, epoch)

    def snapshot_size_bytes(self, snapshot_id: OffsetAndEpoch) -> int | None:
        snapshot = self.snapshot(snapshot_id)
        return len(snapshot.data) if snapshot else None

    # -- for the driver

    def snapshot(self, snapshot_id: OffsetAndEpoch) -> Snapshot | None:
        return next((snapshot for snapshot in self.snapshots if snapshot.snapshot_id == snapshot_id), None)

    def entry(self, offset: int) -> Entry:
        return self.entries[offset - self.start_offset]

    def controls(self) -> tuple[Control, ...]:
        """What Start tells: control records of the latest snapshot, and of the log behind it."""
        first = self.snapshots[-1].controls() if self.snapshots else ()
        since = self.snapshots[-1].snapshot_id.offset if self.snapshots else 0
        rest = (
            Control(offset, entry.control)
            for offset, entry in enumerate(self.entries, self.start_offset)
            if entry.control is not None and offset >= since
        )
        return (*first, *rest)

    def append(self, entry: Entry) -> None:
        if not self._epochs or entry.epoch > self._epochs[-1]:
            self._epochs.append(entry.epoch)
            self._epoch_starts.append(self.end_offset)
        self.entries.append(entry)
        self.end_offset += 1

    def truncate(self, end_offset: int) -> None:
        del self.entries[max(0, end_offset - self.start_offset) :]
        self.end_offset = end_offset
        self.flushed_offset = min(self.flushed_offset, end_offset)
        self.flush_generation += 1
        while self._epoch_starts and self._epoch_starts[-1] >= end_offset:
            del self._epoch_starts[-1], self._epochs[-1]

    def trim(self, start_offset: int) -> None:
        """Delete the log before a snapshot, and older snapshots."""
        del self.entries[: start_offset - self.start_offset]
        self.start_offset = start_offset
        self.snapshots = [snapshot for snapshot in self.snapshots if snapshot.snapshot_id.offset >= start_offset]
        while len(self._epoch_starts) > 1 and self._epoch_starts[1] <= start_offset:
            del self._epoch_starts[0], self._epochs[0]
        if self._epoch_starts and self._epoch_starts[0] < start_offset:
            self._epoch_starts[0] = start_offset
        if not self.entries:
            self._epochs, self._epoch_starts = [], []

    def install(self, snapshot: Snapshot) -> None:
        """The log starts anew at the snapshot's end."""
        end_offset = snapshot.snapshot_id.offset
        self.snapshots = [snapshot]
        self.entries, self._epochs, self._epoch_starts = [], [], []
        self.start_offset = self.end_offset = self.flushed_offset = end_offset
        self.flush_generation += 1

    def lose_power(self, survivors: int) -> None:
        """Of what was not flushed, a part may have reached the platter all the same."""
        self.truncate(min(self.end_offset, self.flushed_offset + survivors))
        self.flushed_offset = self.end_offset
        if self.snapshots and self.snapshots[-1].snapshot_id.offset > self.end_offset:
            self.install(self.snapshots[-1])
