"""The snapshots of producers that a log has on disk. Owner's thread."""

import contextlib
from bisect import insort
from collections.abc import Iterable
from typing import Final

from kafkish_storage.files.port import NO_SPACE
from kafkish_storage.home import Home
from kafkish_storage.names import DELETED, SNAPSHOT, segment_file
from kafkish_storage.producers.entry import ProducerEntry
from kafkish_storage.producers.snapshot import parse, serialize
from kafkish_storage.producers.state import ProducerState

_NONE: Final = -1


class SnapshotFiles:
    """The offsets of the snapshots, ascending; `unsynced` are those that a flush has to sync."""

    __slots__ = ("_home", "_start_offset", "offsets", "unsynced")

    def __init__(self, home: Home, offsets: Iterable[int] = ()) -> None:
        self._home = home
        self._start_offset = 0
        self.offsets = sorted(offsets)
        self.unsynced: list[int] = []

    def path(self, offset: int) -> str:
        return self._home / segment_file(offset, SNAPSHOT)

    def take(self, state: ProducerState) -> None:
        """Write how the producers are, unless nothing happened since the last snapshot.

        On a full disk there will be none: the producers can always be found from the log.
        """
        offset = state.end_offset
        if offset <= max(self.latest, self._start_offset):
            return
        data = serialize(state.producers.values())
        self._home.files.remove(self.path(offset))
        try:
            file = self._home.files.open(self.path(offset), create=True)
            file.write(0, [data], len(data))
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            self._home.files.remove(self.path(offset))
            return
        insort(self.offsets, offset)
        self.unsynced.append(offset)

    @property
    def latest(self) -> int:
        return self.offsets[-1] if self.offsets else _NONE

    def load(self, start_offset: int, end_offset: int) -> tuple[int, list[ProducerEntry]]:
        """The latest producers between two offsets, and as of which; those outside and the damaged are removed."""
        self._start_offset = start_offset
        self.keep_between(start_offset, end_offset)
        while self.offsets:
            entries = parse(self._home.files.read(self.path(self.latest)) or b"")
            if entries is not None:
                return self.latest, entries
            self.remove(self.latest)
        return start_offset, []

    def keep_between(self, start_offset: int, end_offset: int) -> None:
        for offset in list(self.offsets):
            if not start_offset < offset <= end_offset:
                self.remove(offset)

    def remove(self, offset: int) -> None:
        if offset in self.offsets:
            self.offsets.remove(offset)
            self._home.files.remove(self.path(offset))
        if offset in self.unsynced:
            self.unsynced.remove(offset)

    def mark_deleted(self, offset: int) -> str | None:
        """Rename a snapshot that goes with its segment; the new path, to be removed later."""
        if offset not in self.offsets:
            return None
        self.offsets.remove(offset)
        if offset in self.unsynced:
            self.unsynced.remove(offset)
        path = self._home / segment_file(offset, SNAPSHOT, DELETED)
        with contextlib.suppress(FileNotFoundError):
            self._home.files.rename(self.path(offset), path)
        return path
