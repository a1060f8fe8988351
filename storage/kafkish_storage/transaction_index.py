"""The aborted transactions that end in a segment, in a file that exists only if there is one.

    version int16, 0 | producer id int64 | first offset int64 | last offset int64 | last stable offset int64

The entries of the active segment are in memory; on disk they may come a little later (a full disk), but before the
segment is flushed as a sealed one. Owner's thread.
"""

import struct
from collections.abc import Iterable
from typing import Final, NamedTuple

from kafkish_protocol.records.checksum import crc32c
from kafkish_storage.files import File
from kafkish_storage.home import Home
from kafkish_storage.names import TRANSACTION_INDEX, segment_file
from kafkish_storage.producers.state import CompletedTransaction

_ENTRY: Final = struct.Struct(">hqqqq")
_VERSION: Final = 0


class AbortedTransaction(NamedTuple):
    """An aborted transaction; `last_offset` is its marker's, `last_stable_offset` the log's once it had ended."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int

    @classmethod
    def of(cls, ended: CompletedTransaction) -> "AbortedTransaction":
        return cls(ended.producer_id, ended.first_offset, ended.last_offset, ended.last_stable_offset)


class TransactionIndex:
    """The entries of one segment, read when first asked for, if it is known what the file must have.

    A missing file and one without its last entries look like any other. So somebody must vouch for them, or they are
    derived from the log (`aborted`).
    """

    __slots__ = ("_entries", "_name", "_written", "base_offset", "checksum", "home", "settled_below")

    def __init__(self, home: Home, base_offset: int, suffix: str = "") -> None:
        self.home = home
        self._name = segment_file(base_offset, TRANSACTION_INDEX, suffix)
        self.base_offset = base_offset
        self.checksum: int | None = None  # of all entries, while they sleep; None if nobody knows
        self.settled_below = -1  # transactions that start below end here or before, as far as that was looked up
        self._entries: list[AbortedTransaction] | None = None
        self._written = 0

    @property
    def path(self) -> str:
        return self.home / self._name

    def known(self) -> list[AbortedTransaction] | None:
        """The entries; None if the file cannot be believed, and they must be derived."""
        if self._entries is None and self.checksum is not None:
            data = self.home.files.read(self.path) or b""
            if crc32c(data) != self.checksum:
                self.checksum = None
                return None
            self._entries = parse(data)
            self._written = len(self._entries)
        return self._entries

    def read(self) -> list[AbortedTransaction]:
        """What the file has, whether or not it can be believed."""
        return parse(self.home.files.read(self.path) or b"")

    def current_checksum(self) -> int | None:
        return self.checksum if self._entries is None else crc32c(serialize(self._entries))

    def begin(self) -> None:
        """The segment is new: there are none."""
        self._entries, self._written = [], 0

    def append(self, entry: AbortedTransaction) -> None:
        """Remember one more of those that are known; `write` brings it to the file."""
        assert self._entries is not None
        self._entries.append(entry)

    def write(self) -> None:
        """Write what is not yet in the file."""
        if self._entries is None or self._written == len(self._entries):
            return
        files = self.home.files
        file = files.open(self.path, create=files.stat(self.path) is None)
        data = serialize(self._entries[self._written :])
        file.write(self._written * _ENTRY.size, [data], len(data))
        self._written = len(self._entries)

    def truncate(self, offset: int) -> None:
        """Forget the transactions that end at or above an offset, durably."""
        known = self.known()
        entries = self.read() if known is None else known
        kept = [entry for entry in entries if entry.last_offset < offset]
        if len(kept) < len(entries):
            self.replace(kept)
            if self.home.files.stat(self.path) is not None:
                self.home.files.open(self.path).sync()
        if known is None:
            self._entries = None
        self.settled_below = -1

    def replace(self, entries: Iterable[AbortedTransaction]) -> None:
        """Make these the entries, on disk too, whatever is there now."""
        self._entries = list(entries)
        self._written = 0
        if self.home.files.stat(self.path) is not None:
            self.home.files.open(self.path).truncate(0)
        self.write()

    def open_if_exists(self) -> File | None:
        """The file, to be synced."""
        exists = self._entries if self._entries is not None else self.home.files.stat(self.path)
        return self.home.files.open(self.path) if exists else None

    def sleep(self) -> None:
        if self._entries is not None and self._written == len(self._entries):
            self.checksum = self.current_checksum()
            self._entries = None

    def rename(self, suffix: str) -> None:
        """The file has got another suffix."""
        self._name = segment_file(self.base_offset, TRANSACTION_INDEX, suffix)


def parse(data: bytes) -> list[AbortedTransaction]:
    whole = len(data) - len(data) % _ENTRY.size
    return [AbortedTransaction(*fields[1:]) for fields in _ENTRY.iter_unpack(data[:whole])]


def serialize(entries: Iterable[AbortedTransaction]) -> bytes:
    return b"".join(_ENTRY.pack(_VERSION, *entry) for entry in entries)
