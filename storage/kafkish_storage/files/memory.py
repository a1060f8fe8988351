"""A disk in memory that forgets in a crash what nobody synced, as badly as a disk may.

A file's content is what was durable at its last sync and a list of changes since. A directory's names likewise. A crash
keeps any subset of the changes: of a write, any of its sectors. `crashed` returns the disk as it may be found then.

`on_change` is called after every change, so that a test can crash at each. `fault` is asked before every operation and
may name an error for it to fail with.
"""

import errno
import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from struct import Struct
from typing import Final, NamedTuple

from kafkish_storage.files.port import Buffer, Entry, File, Lock, Mapping, Stat

SECTOR_BYTES: Final = 512


class _Change(NamedTuple):
    """A write, or a new length if there is no data."""

    position: int
    data: bytes | None

    def apply(self, content: bytearray) -> None:
        if self.data is None:
            _resize(content, self.position)
            return
        end = self.position + len(self.data)
        if end > len(content):
            _resize(content, end)
        content[self.position : end] = self.data

    def sectors(self) -> "list[_Change]":
        """What a crash can keep or lose of it."""
        if self.data is None or len(self.data) <= SECTOR_BYTES - self.position % SECTOR_BYTES:
            return [self]
        first = SECTOR_BYTES - self.position % SECTOR_BYTES
        cuts = [0, *range(first, len(self.data), SECTOR_BYTES), len(self.data)]
        return [_Change(self.position + cut, self.data[cut:end]) for cut, end in pairwise(cuts)]


def _resize(content: bytearray, size_bytes: int) -> None:
    if size_bytes <= len(content):
        del content[size_bytes:]
    else:
        content.extend(bytes(size_bytes - len(content)))


class _Content:
    """A file, whatever its name."""

    def __init__(self) -> None:
        self.now = bytearray()
        self.durable = b""
        self.changes: list[_Change] = []
        self.modified_ms = 0

    def change(self, change: _Change) -> None:
        change.apply(self.now)
        self.changes.append(change)

    def sync(self) -> None:
        if self.changes:
            self.durable = bytes(self.now)
            self.changes.clear()

    def crashed(self, keeps: Callable[[], bool]) -> "_Content":
        after = _Content()
        after.modified_ms = self.modified_ms
        after.now = bytearray(self.durable)
        for change in self.changes:
            for sector in change.sectors():
                if keeps():
                    sector.apply(after.now)
        after.durable = bytes(after.now)
        return after


class _Directory:
    """Names, and the changes to them that no sync has made durable: (old name, new name, what it names)."""

    def __init__(self) -> None:
        self.now: dict[str, _Content | _Directory] = {}
        self.durable: dict[str, _Content | _Directory] = {}
        self.changes: list[tuple[str | None, str | None, _Content | _Directory]] = []

    def change(self, old: str | None, new: str | None, what: "_Content | _Directory") -> None:
        _rename(self.now, old, new, what)
        self.changes.append((old, new, what))

    def sync(self) -> None:
        if self.changes:
            self.durable = dict(self.now)
            self.changes.clear()

    def crashed(self, keeps: Callable[[], bool], after: "dict[int, _Content | _Directory]") -> "_Directory":
        found = _Directory()
        names = dict(self.durable)
        for old, new, what in self.changes:
            if keeps():
                _rename(names, old, new, what)
        for name, what in names.items():
            if id(what) not in after:  # two names of one file, if a crash kept half of a rename
                after[id(what)] = what.crashed(keeps) if isinstance(what, _Content) else what.crashed(keeps, after)
            found.now[name] = after[id(what)]
        found.durable = dict(found.now)
        return found


def _rename(
    names: "dict[str, _Content | _Directory]", old: str | None, new: str | None, what: "_Content | _Directory"
) -> None:
    if old is not None and names.get(old) is what:
        del names[old]
    if new is not None:
        names[new] = what


class MemoryMapping:
    """A mapping that remembers what was written through it."""

    def __init__(self, disk: "MemoryFiles", content: _Content, path: str) -> None:
        self._disk = disk
        self._content = content
        self._path = path

    @property
    def data(self) -> bytearray:
        return self._content.now

    def write(self, position: int, data: bytes) -> None:
        if position + len(data) > len(self._content.now):
            raise IndexError(f"{self._path}: byte {position + len(data)} is not in the mapping")
        self._content.change(_Change(position, bytes(data)))
        self._disk.changed("map", self._path)

    def packer(self, entry: Struct) -> Callable[[int, int, int], object]:
        return lambda position, first, second: self.write(position, entry.pack(first, second))


class MemoryFile:
    """An open file of the disk in memory."""

    def __init__(self, disk: "MemoryFiles", content: _Content, path: str) -> None:
        self._disk = disk
        self._content = content
        self.path = path

    def fileno(self) -> int:
        raise OSError(errno.EBADF, "a file in memory has no descriptor")

    def size_bytes(self) -> int:
        return len(self._content.now)

    def read(self, position: int, length: int) -> bytes:
        self._disk.attempt("read", self.path)
        return bytes(self._content.now[position : position + length])

    def write(self, position: int, buffers: Sequence[Buffer], length: int) -> None:
        self._disk.attempt("write", self.path)
        data = b"".join(buffers)
        assert len(data) == length
        room = self._disk.room_bytes() + max(0, len(self._content.now) - position)
        if room < length:  # as a real disk: some of it is written
            self._content.change(_Change(position, data[:room]))
            self._disk.changed("write", self.path)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
        self._content.change(_Change(position, data))
        self._content.modified_ms = self._disk.now_ms
        self._disk.changed("write", self.path)

    def truncate(self, size_bytes: int) -> None:
        self._disk.attempt("truncate", self.path)
        self._content.change(_Change(size_bytes, None))
        self._disk.changed("truncate", self.path)

    def reserve(self, position: int, length: int) -> None:
        self._disk.attempt("reserve", self.path)
        if position + length > len(self._content.now):
            self._content.change(_Change(position + length, None))

    def map(self, length: int) -> Mapping:
        assert length <= len(self._content.now)
        return MemoryMapping(self._disk, self._content, self.path)

    def sync(self) -> None:
        self._disk.attempt("sync", self.path)
        self._content.sync()
        self._disk.changed("sync", self.path)

    def close(self) -> None:
        pass


class MemoryLock:
    """A lock within one disk in memory."""

    def __init__(self, locked: set[str], path: str) -> None:
        self._locked = locked
        self._path = path

    def release(self) -> None:
        self._locked.discard(self._path)


class MemoryFiles:
    """The disk. It starts with an empty root directory."""

    def __init__(self) -> None:
        self._root = _Directory()
        self._locked: set[str] = set()
        self.now_ms = 0
        self.capacity_bytes: int | None = None
        self.on_change: Callable[[str, str], None] | None = None
        self.fault: Callable[[str, str], int | None] | None = None

    # -- what tests do with it

    def crashed(self, keeps: Callable[[], bool]) -> "MemoryFiles":
        """The disk after a crash; `keeps` decides for each change that was not synced."""
        disk = MemoryFiles()
        disk._root = self._root.crashed(keeps, {})
        disk.now_ms = self.now_ms
        disk.capacity_bytes = self.capacity_bytes
        return disk

    def crashed_at_random(self, dice: Random) -> "MemoryFiles":
        """The disk after a crash that kept all, nothing, most, half or little of what was not synced."""
        share = dice.choice((0.0, 0.1, 0.5, 0.9, 1.0))
        return self.crashed(lambda: dice.random() < share)

    def contents(self) -> dict[str, bytes]:
        """Every file and its bytes."""
        found: dict[str, bytes] = {}
        pending = [("", self._root)]
        while pending:
            path, directory = pending.pop()
            for name, what in directory.now.items():
                if isinstance(what, _Content):
                    found[f"{path}/{name}"] = bytes(what.now)
                else:
                    pending.append((f"{path}/{name}", what))
        return found

    def attempt(self, operation: str, path: str) -> None:
        """Fail if the test wants this operation to."""
        number = self.fault(operation, path) if self.fault else None
        if number is not None:
            raise OSError(number, os.strerror(number), path)

    def changed(self, operation: str, path: str) -> None:
        if self.on_change:
            self.on_change(operation, path)

    def room_bytes(self) -> int:
        if self.capacity_bytes is None:
            return 2**62
        return max(0, self.capacity_bytes - sum(len(data) for data in self.contents().values()))

    # -- the port

    def open(self, path: str, *, create: bool = False) -> File:
        self.attempt("create" if create else "open", path)
        directory, name = self._parent(path)
        found = directory.now.get(name)
        if create:
            if found is not None:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            found = _Content()
            found.modified_ms = self.now_ms
            directory.change(None, name, found)
            self.changed("create", path)
        if not isinstance(found, _Content):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return MemoryFile(self, found, path)

    def entries(self, path: str) -> list[Entry]:
        self.attempt("entries", path)
        return [Entry(name, isinstance(what, _Directory)) for name, what in self._directory(path).now.items()]

    def stat(self, path: str) -> Stat | None:
        try:
            directory, name = self._parent(path)
        except FileNotFoundError:
            return None
        what = directory.now.get(name)
        if isinstance(what, _Content):
            return Stat(len(what.now), what.modified_ms, is_directory=False)
        return Stat(0, 0, is_directory=True) if what is not None else None

    def read(self, path: str) -> bytes | None:
        self.attempt("read", path)
        directory, name = self._parent(path)
        what = directory.now.get(name)
        return bytes(what.now) if isinstance(what, _Content) else None

    def rename(self, old: str, new: str) -> None:
        self.attempt("rename", old)
        directory, name = self._parent(old)
        other, new_name = self._parent(new)
        assert directory is other, "renames stay within a directory"
        if name not in directory.now:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), old)
        directory.change(name, new_name, directory.now[name])
        self.changed("rename", new)

    def remove(self, path: str) -> None:
        self.attempt("remove", path)
        directory, name = self._parent(path)
        if name in directory.now:
            directory.change(name, None, directory.now[name])
            self.changed("remove", path)

    def make_directory(self, path: str) -> None:
        self.attempt("make directory", path)
        directory = self._root
        for name in path.strip("/").split("/"):
            if name not in directory.now:
                directory.change(None, name, _Directory())
                self.changed("make directory", path)
            below = directory.now[name]
            assert isinstance(below, _Directory)
            directory = below

    def remove_directory(self, path: str) -> None:
        self.attempt("remove", path)
        directory, name = self._parent(path)
        if self._directory(path).now:
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        directory.change(name, None, directory.now[name])
        self.changed("remove", path)

    def sync_directory(self, path: str) -> None:
        self.attempt("sync", path)
        self._directory(path).sync()
        self.changed("sync", path)

    def set_modified(self, path: str, modified_ms: int) -> None:
        directory, name = self._parent(path)
        what = directory.now.get(name)
        if not isinstance(what, _Content):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        what.modified_ms = modified_ms

    def lock(self, path: str) -> Lock | None:
        if path in self._locked:
            return None
        if self.stat(path) is None:
            self.open(path, create=True)
        self._locked.add(path)
        return MemoryLock(self._locked, path)

    def free_bytes(self, path: str) -> int:  # noqa: ARG002  # one disk
        return self.room_bytes()

    def total_bytes(self, path: str) -> int:  # noqa: ARG002
        return self.capacity_bytes or 2**62

    def _directory(self, path: str) -> _Directory:
        directory = self._root
        for name in filter(None, path.split("/")):
            below = directory.now.get(name)
            if not isinstance(below, _Directory):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            directory = below
        return directory

    def _parent(self, path: str) -> tuple[_Directory, str]:
        above, _, name = path.rpartition("/")
        return self._directory(above), name
