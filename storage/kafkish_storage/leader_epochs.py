"""Where each leader's batches start in a log: what followers and consumers are compared by (KIP-101, KIP-320).

The file `leader-epoch-checkpoint` is brought up to date by flushes, not by appends: what it lacks after a crash is in
batches above the recovery point, which recovery reads anyway. Owner's thread.
"""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise
from typing import Final, NamedTuple

from kafkish_storage.checkpoint import read_lines, write_lines
from kafkish_storage.errors import CorruptFileError
from kafkish_storage.files import Files, replace_file
from kafkish_storage.home import Home

FILE_NAME: Final = "leader-epoch-checkpoint"


class EpochStart(NamedTuple):
    """A leader's epoch and the offset of its first batch."""

    epoch: int
    start_offset: int


class EpochEnd(NamedTuple):
    """A leader's epoch and the offset after its last batch."""

    epoch: int
    end_offset: int


class LeaderEpochs:
    """Both epochs and offsets increase."""

    __slots__ = ("_home", "changed", "entries")

    def __init__(self, home: Home, entries: Iterable[EpochStart] = ()) -> None:
        self._home = home
        self.entries = list(entries)
        self.changed = False  # since the file was written

    @property
    def latest_epoch(self) -> int | None:
        return self.entries[-1].epoch if self.entries else None

    def assign(self, epoch: int, start_offset: int) -> None:
        """A leader's first batch is at this offset. What contradicts it was never committed, and is forgotten."""
        last = self.entries[-1] if self.entries else None
        if last is not None and epoch == last.epoch and start_offset >= last.start_offset:
            return
        while self.entries and (self.entries[-1].epoch >= epoch or self.entries[-1].start_offset >= start_offset):
            self.entries.pop()
        self.entries.append(EpochStart(epoch, start_offset))
        self.changed = True

    def observe(self, epoch: int, offset: int) -> None:
        """A batch of an epoch is at an offset; if the epoch is new, it starts there."""
        if epoch >= 0 and (not self.entries or epoch > self.entries[-1].epoch):
            self.assign(epoch, offset)

    def end_of(self, epoch: int, log_end_offset: int) -> EpochEnd | None:
        """The last epoch not above the one asked for, and where it ends; None if that is not known."""
        if not self.entries or epoch == -1 or epoch > self.entries[-1].epoch:
            return None
        if epoch == self.entries[-1].epoch:
            return EpochEnd(epoch, log_end_offset)
        higher = bisect_right(self.entries, epoch, key=lambda entry: entry.epoch)
        found = self.entries[higher - 1].epoch if higher else epoch
        return EpochEnd(found, self.entries[higher].start_offset)

    def epoch_of(self, offset: int) -> int | None:
        """The epoch of the leader that wrote at an offset."""
        higher = bisect_right(self.entries, offset, key=lambda entry: entry.start_offset)
        return self.entries[higher - 1].epoch if higher else None

    def truncate_end(self, end_offset: int) -> None:
        """The log ends here now."""
        while self.entries and self.entries[-1].start_offset >= end_offset:
            self.entries.pop()
            self.changed = True

    def truncate_start(self, start_offset: int) -> None:
        """The log starts here now; the epoch that holds the offset starts here too."""
        higher = bisect_right(self.entries, start_offset, key=lambda entry: entry.start_offset)
        if (higher and self.entries[higher - 1].start_offset != start_offset) or higher > 1:
            self.entries[:higher] = [EpochStart(self.entries[higher - 1].epoch, start_offset)]
            self.changed = True

    def clear(self) -> None:
        self.changed = self.changed or bool(self.entries)
        self.entries.clear()


def write_leader_epochs(files: Files, directory: str, entries: Iterable[EpochStart]) -> None:
    """Replace the file; durable with its directory. Any thread, one at a time for a log."""
    lines = (f"{epoch} {start_offset}" for epoch, start_offset in entries)
    write_lines(files, f"{directory}/{FILE_NAME}", lines, write=replace_file)


def read_leader_epochs(home: Home) -> list[EpochStart] | None:
    """What the file has; None if it cannot be trusted and must be derived from the log."""
    try:
        entries = read_lines(home.files, home / FILE_NAME, _parse)
    except CorruptFileError:
        return None
    if any(a.epoch >= b.epoch or a.start_offset >= b.start_offset for a, b in pairwise(entries)):
        return None
    return entries if entries and entries[0].epoch >= 0 and entries[0].start_offset >= 0 else None


def _parse(words: list[str]) -> EpochStart:
    epoch, start_offset = words
    return EpochStart(int(epoch), int(start_offset))
