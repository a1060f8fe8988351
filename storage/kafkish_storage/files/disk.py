"""The real disk, by the operating system's own calls. POSIX only."""

import contextlib
import errno
import fcntl
import mmap
import os
from collections.abc import Callable, Sequence
from functools import partial
from stat import S_ISDIR
from struct import Struct
from typing import ClassVar, Final

from kafkish_storage.files.port import Buffer, Entry, File, Lock, Mapping, Stat

_MAX_BUFFERS: Final = 512  # Linux takes 1024 at a time
_pwritev: Final = os.pwritev
_fdatasync: Final = getattr(os, "fdatasync", os.fsync)  # not on every POSIX system


class DiskMapping:
    """A shared mapping of a file's first bytes."""

    __slots__ = ("data",)

    def __init__(self, descriptor: int, length: int) -> None:
        self.data = mmap.mmap(descriptor, length)

    def write(self, position: int, data: bytes) -> None:
        self.data[position : position + len(data)] = data

    def packer(self, entry: Struct) -> Callable[[int, int, int], object]:
        return partial(entry.pack_into, self.data)


class DiskFile:
    """An open file, closed when the last reference to it goes."""

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: str, flags: int) -> None:
        self._descriptor = -1
        self.path = path
        self._descriptor = os.open(path, flags | os.O_CLOEXEC, 0o644)

    def fileno(self) -> int:
        return self._descriptor

    def size_bytes(self) -> int:
        return os.fstat(self._descriptor).st_size

    def read(self, position: int, length: int) -> bytes:
        data = os.pread(self._descriptor, length, position)
        while len(data) < length:  # the end of the file, or more than one call reads (2 GB)
            more = os.pread(self._descriptor, length - len(data), position + len(data))
            if not more:
                break
            data += more
        return data

    def write(self, position: int, buffers: Sequence[Buffer], length: int) -> None:
        some = buffers if len(buffers) <= _MAX_BUFFERS else buffers[:_MAX_BUFFERS]
        written = _pwritev(self._descriptor, some, position)
        if written < length:
            self._write_rest(position, buffers, written, length)

    def _write_rest(self, position: int, buffers: Sequence[Buffer], written: int, length: int) -> None:
        """Go on after a call that wrote less than it was given: too many buffers, or a disk that is nearly full."""
        while written < length:
            rest = _skip(buffers, written)
            written += os.pwritev(self._descriptor, rest[:_MAX_BUFFERS], position + written)

    def truncate(self, size_bytes: int) -> None:
        os.ftruncate(self._descriptor, size_bytes)

    def reserve(self, position: int, length: int) -> None:
        os.posix_fallocate(self._descriptor, position, length)

    def map(self, length: int) -> Mapping:
        return DiskMapping(self._descriptor, length)

    def sync(self) -> None:
        _fdatasync(self._descriptor)

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        self.close()


def _skip(buffers: Sequence[Buffer], count: int) -> list[memoryview]:
    """What is left of the buffers after this many bytes."""
    rest = []
    for buffer in buffers:
        if count < len(buffer):
            rest.append(memoryview(buffer)[count:])
        count = max(0, count - len(buffer))
    return rest


class DiskLock:
    """An exclusive lock on a file, of the kind that Java takes: the two keep each other out.

    Such a lock is the process's: it would let the process in twice, and closing any descriptor of the file drops it.
    So this process remembers what it holds, and does not touch those files again.
    """

    _held: ClassVar[set[tuple[int, int]]] = set()

    def __init__(self, descriptor: int, identity: tuple[int, int]) -> None:
        self._descriptor = descriptor
        self._identity = identity
        self._held.add(identity)

    @classmethod
    def take(cls, path: str) -> "DiskLock | None":
        with contextlib.suppress(FileNotFoundError):
            if _identity(os.stat(path)) in cls._held:
                return None
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if error.errno in (errno.EACCES, errno.EAGAIN):
                return None
            raise
        return cls(descriptor, _identity(os.fstat(descriptor)))

    def release(self) -> None:
        if self._descriptor >= 0:
            self._held.discard(self._identity)
            os.close(self._descriptor)
            self._descriptor = -1


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


class DiskFiles:
    """The operating system's files."""

    def open(self, path: str, *, create: bool = False) -> File:
        return DiskFile(path, os.O_RDWR | os.O_CREAT | os.O_EXCL if create else os.O_RDWR)

    def entries(self, path: str) -> list[Entry]:
        with os.scandir(path) as found:
            return [Entry(entry.name, entry.is_dir()) for entry in found]

    def stat(self, path: str) -> Stat | None:
        try:
            found = os.stat(path)
        except FileNotFoundError:
            return None
        return Stat(found.st_size, found.st_mtime_ns // 1_000_000, S_ISDIR(found.st_mode))

    def read(self, path: str) -> bytes | None:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            return os.read(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)

    def rename(self, old: str, new: str) -> None:
        os.replace(old, new)

    def remove(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    def make_directory(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def remove_directory(self, path: str) -> None:
        os.rmdir(path)

    def sync_directory(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def set_modified(self, path: str, modified_ms: int) -> None:
        os.utime(path, ns=(modified_ms * 1_000_000, modified_ms * 1_000_000))

    def lock(self, path: str) -> Lock | None:
        return DiskLock.take(path)

    def free_bytes(self, path: str) -> int:
        found = os.statvfs(path)
        return found.f_bavail * found.f_frsize

    def total_bytes(self, path: str) -> int:
        found = os.statvfs(path)
        return found.f_blocks * found.f_frsize
