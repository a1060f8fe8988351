"""What storage asks of a disk, and nothing else of it.

Durability, as every caller may count on it:

* what was written to a file survives a crash once `File.sync` has returned;
* that a name exists, is gone or was changed survives a crash once `Files.sync_directory` of its directory has returned;
* before that, any part may survive and any part may not.

Everything raises OSError as the operating system does. Paths are strings, joined with "/".
"""

import errno
from collections.abc import Callable, Sequence
from mmap import mmap
from struct import Struct
from typing import Final, NamedTuple, Protocol, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview

NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT)  # errors that pass when somebody frees space


class Stat(NamedTuple):
    """What a directory knows of a file."""

    size_bytes: int
    modified_ms: int
    is_directory: bool


class Entry(NamedTuple):
    """A name in a directory."""

    name: str
    is_directory: bool


class Mapping(Protocol):
    """A file in memory. Its bytes are read from `data` and changed by `write`, which never changes the length."""

    @property
    def data(self) -> mmap | bytearray: ...
    def write(self, position: int, data: bytes) -> None: ...
    def packer(self, entry: Struct) -> Callable[[int, int, int], object]:
        """What writes two numbers as an entry at a position, with as little ado as may be."""


class File(Protocol):
    """An open file. It stays readable when it is renamed or removed, and closes when nobody holds it any more."""

    @property
    def path(self) -> str:
        """Where it was when it was opened; for messages."""

    def fileno(self) -> int:
        """The descriptor, for sendfile."""

    def size_bytes(self) -> int: ...

    def read(self, position: int, length: int) -> bytes:
        """At most `length` bytes; fewer only at the end of the file."""

    def write(self, position: int, buffers: Sequence[Buffer], length: int) -> None:
        """Write the buffers, `length` bytes in all, one after the other; if it raises, some may have been written."""

    def truncate(self, size_bytes: int) -> None:
        """Cut the file, or lengthen it with zeros that take no space."""

    def reserve(self, position: int, length: int) -> None:
        """Take the space for these bytes now, so that writing to a mapping of them cannot fail."""

    def map(self, length: int) -> Mapping: ...

    def sync(self) -> None:
        """Make the content durable, what was written through mappings included."""

    def close(self) -> None: ...


class Lock(Protocol):
    """A lock between processes that ends with the process."""

    def release(self) -> None: ...


class Files(Protocol):
    """A disk."""

    def open(self, path: str, *, create: bool = False) -> File:
        """Open to read and write. With `create` the file must not exist."""

    def entries(self, path: str) -> list[Entry]:
        """The names in a directory, in no order."""

    def stat(self, path: str) -> Stat | None:
        """None if there is no such file."""

    def read(self, path: str) -> bytes | None:
        """All of a small file; None if there is no such file."""

    def rename(self, old: str, new: str) -> None:
        """Within one directory. What has the new name already is replaced."""

    def remove(self, path: str) -> None:
        """Remove a file; it is no error if there is none."""

    def make_directory(self, path: str) -> None:
        """Make a directory and those above it; it is no error if it exists."""

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory."""

    def sync_directory(self, path: str) -> None: ...

    def set_modified(self, path: str, modified_ms: int) -> None: ...

    def lock(self, path: str) -> Lock | None:
        """None if another process has it."""

    def free_bytes(self, path: str) -> int:
        """How much may still be written on the disk that holds this directory."""

    def total_bytes(self, path: str) -> int: ...
