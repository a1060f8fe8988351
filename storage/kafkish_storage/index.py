"""The two sparse indexes of a segment: from offsets to positions, and from timestamps to offsets.

    .index      relative offset int32 | position int32      the batch at the position ends with the offset
    .timeindex  timestamp int64 | relative offset int32     no batch up to the one that ends with the offset is newer

While its segment is active an index has the length of `segment.index.bytes` and zeros at its end; it is trimmed when
the segment is rolled or closed. It is mapped when first used.

What an index says is a hint. `Segment` compares every answer with the batch that it points to, and rebuilds the index
if they differ: a damaged index costs time, never a wrong answer. Owner's thread.
"""

import contextlib
import struct
from collections.abc import Callable
from typing import ClassVar, Final

from kafkish_storage.files import Mapping
from kafkish_storage.home import Home
from kafkish_storage.names import OFFSET_INDEX, TIME_INDEX, segment_file

_RESERVE_BYTES: Final = 4096
_UNKNOWN: Final = -1


def _is_asleep(*_: int) -> None:
    raise AssertionError("an entry for an index that is not mapped")


class _Index:
    """Entries of one size in a mapped file."""

    __slots__ = ("_count", "_mapping", "_max_count", "_name", "_put", "_reserved_count", "base_offset", "home")

    KIND: ClassVar[str]
    ENTRY: ClassVar[struct.Struct]
    SIZE: ClassVar[int]

    def __init__(self, home: Home, base_offset: int, max_bytes: int, suffix: str = "") -> None:
        self.home = home
        self._name = segment_file(base_offset, self.KIND, suffix)
        self.base_offset = base_offset
        self._max_count = max_bytes // self.ENTRY.size
        self._count = _UNKNOWN
        self._mapping: Mapping | None = None
        self._put: Callable[[int, int, int], object] = _is_asleep
        self._reserved_count = 0

    @property
    def path(self) -> str:
        return self.home / self._name

    @property
    def count(self) -> int:
        if self._count == _UNKNOWN:
            self._load()
        return self._count

    @property
    def size_bytes(self) -> int:
        return self.count * self.ENTRY.size

    def create(self) -> None:
        """Make the file, as long as it may become."""
        self.home.files.remove(self.path)
        file = self.home.files.open(self.path, create=True)
        file.truncate(self._max_count * self.ENTRY.size)
        self._count = 0

    def _load(self) -> None:
        """Map what is there. Zeros at the end are space that a crash left, not entries."""
        file = self.home.files.open(self.path)
        there = file.size_bytes() // self.ENTRY.size
        self._mapping = file.map(there * self.ENTRY.size) if there else None
        self._count = self._count_entries(there) if self._count == _UNKNOWN else min(self._count, there)
        self._reserved_count = 0

    def _count_entries(self, count: int) -> int:
        """How many entries stand before the zeros at the end."""
        low, high, empty = 0, count, bytes(self.ENTRY.size)
        if count and self._raw(count - 1) != empty:
            return count
        while low < high:
            middle = (low + high) // 2
            if self._raw(middle) != empty:
                low = middle + 1
            else:
                high = middle
        return low

    def _raw(self, slot: int) -> bytes:
        assert self._mapping is not None
        size = self.ENTRY.size
        return bytes(self._mapping.data[slot * size : slot * size + size])

    def _entry(self, slot: int) -> tuple[int, int]:
        if self._mapping is None:
            self._load()
        assert self._mapping is not None
        first, second = self.ENTRY.unpack_from(self._mapping.data, slot * self.ENTRY.size)
        return first, second

    def _floor(self, key: int) -> int:
        """The last slot whose first field is not above the key, or -1.

        Entries are spread evenly, mostly: the search begins where the key would be if they were, and goes from there
        in steps that double, so that it is never much slower than halving from the start.
        """
        count = self.count
        if count and self._mapping is None:
            self._load()
        if self._mapping is None or not count:
            return -1
        data, unpack, size = self._mapping.data, self.ENTRY.unpack_from, self.ENTRY.size
        first, last = unpack(data, 0)[0], unpack(data, (count - 1) * size)[0]
        if not first <= key < last:
            return -1 if key < first else count - 1
        low, high = 0, count - 1  # the answer is at `low` or after it, and before `high`
        at, step = (key - first) * high // (last - first), 1
        if unpack(data, at * size)[0] <= key:
            while at < high and unpack(data, at * size)[0] <= key:
                low, at, step = at, at + step, 2 * step
            high = min(at, high)
        else:
            while at > low and unpack(data, at * size)[0] > key:
                high, at, step = at, at - step, 2 * step
            low = max(at, low)
        while low + 1 < high:
            middle = (low + high) // 2
            if unpack(data, middle * size)[0] <= key:
                low = middle
            else:
                high = middle
        return low

    def _add(self, first: int, second: int) -> int:
        """Write an entry. How many there are then."""
        count = self._count
        if not 0 <= count < self._reserved_count:  # nothing is reserved while it sleeps
            count = self._grow()
        self._put(count * self.SIZE, first, second)
        self._count = count = count + 1
        return count

    def _grow(self) -> int:
        """Make sure of the space for more entries: a mapping of a sparse file on a full disk kills the process."""
        count = self.count
        size = self.ENTRY.size
        limit = max(self._max_count, count + 1)
        reserved = min(limit, max(count + _RESERVE_BYTES // size, 2 * count))
        file = self.home.files.open(self.path)
        file.reserve(count * size, (reserved - count) * size)
        if file.size_bytes() < limit * size:
            file.truncate(limit * size)
        self._mapping = file.map(limit * size)
        self._put = self._mapping.packer(self.ENTRY)
        self._reserved_count = reserved
        return count

    def keep(self, count: int) -> None:
        """Forget all entries but the first ones. What is cut is zeros when the index grows again."""
        self._count = count
        self.trim()

    def trim(self) -> None:
        """Give back the space after the last entry."""
        size_bytes = self.size_bytes
        self.sleep()
        file = self.home.files.open(self.path)
        if file.size_bytes() != size_bytes:
            file.truncate(size_bytes)

    def reset(self) -> None:
        """Start again with no entries, whatever the file holds, and make it if there is none."""
        self._count = 0
        with contextlib.suppress(FileNotFoundError):
            self.trim()
            return
        self.create()

    def wake(self) -> None:
        """Map the file now."""
        if self._mapping is None:
            self._load()

    def sleep(self) -> None:
        """Drop the mapping until the next use."""
        self._mapping, self._put = None, _is_asleep
        self._reserved_count = 0

    def rename(self, suffix: str) -> None:
        """The file has got another suffix."""
        self._name = segment_file(self.base_offset, self.KIND, suffix)


class OffsetIndex(_Index):
    """From an offset to the position of a batch before it."""

    __slots__ = ()
    KIND = OFFSET_INDEX
    ENTRY = struct.Struct(">ii")
    SIZE = ENTRY.size

    @property
    def is_full(self) -> bool:
        return self.count >= self._max_count

    def floor(self, offset: int) -> tuple[int, int]:
        """The last entry not above the offset: (last offset of a batch, its position). (base offset, 0) if none."""
        slot = self._floor(offset - self.base_offset)
        return self.entry(slot) if slot >= 0 else (self.base_offset, 0)

    def ceiling(self, offset: int) -> tuple[int, int]:
        """The first entry at or above the offset; (-1, -1) if there is none."""
        slot = self._floor(offset - self.base_offset - 1) + 1
        return self.entry(slot) if slot < self.count else (-1, -1)

    def entry(self, slot: int) -> tuple[int, int]:
        relative_offset, position = self._entry(slot)
        return self.base_offset + relative_offset, position

    def last(self) -> tuple[int, int]:
        return self.entry(self.count - 1) if self.count else (self.base_offset, 0)

    def first_after_position(self, position: int) -> int | None:
        """The offset of the first entry at or after a position."""
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            if self._entry(middle)[1] < position:
                low = middle + 1
            else:
                high = middle
        return self.entry(low)[0] if low < self.count else None

    def append(self, last_offset: int, position: int) -> bool:
        """Add an entry. Whether the index is full then."""
        return self._add(last_offset - self.base_offset, position) >= self._max_count

    def truncate(self, offset: int) -> None:
        """Forget the entries at and above an offset."""
        self.keep(self._floor(offset - self.base_offset - 1) + 1)


class TimeIndex(_Index):
    """From a timestamp to the offset up to which no batch is newer."""

    __slots__ = ("_newest",)
    KIND = TIME_INDEX
    ENTRY = struct.Struct(">qi")
    SIZE = ENTRY.size

    def __init__(self, home: Home, base_offset: int, max_bytes: int, suffix: str = "") -> None:
        super().__init__(home, base_offset, max_bytes, suffix)
        self._newest: int | None = None  # the last entry's timestamp, if it was looked up

    @property
    def is_full(self) -> bool:
        """One slot is kept for the entry that is written when the segment is rolled."""
        return self.count >= self._max_count - 1

    def floor(self, timestamp: int) -> tuple[int, int] | None:
        """The last entry not above the timestamp: (timestamp, last offset of a batch)."""
        slot = self._floor(timestamp)
        return self.entry(slot) if slot >= 0 else None

    def entry(self, slot: int) -> tuple[int, int]:
        timestamp, relative_offset = self._entry(slot)
        return timestamp, self.base_offset + relative_offset

    def last(self) -> tuple[int, int] | None:
        return self.entry(self.count - 1) if self.count else None

    def append(self, timestamp: int, last_offset: int) -> bool:
        """Add an entry, if it is newer than the last. Whether the index is full then."""
        newest = self._newest
        if newest is None:
            last = self.last()
            newest = last[0] if last else timestamp - 1
        if timestamp <= newest:
            self._newest = newest
            return self.is_full
        self._newest = timestamp
        return self._add(timestamp, last_offset - self.base_offset) >= self._max_count - 1

    def sleep(self) -> None:
        super().sleep()
        self._newest = None

    def truncate(self, offset: int) -> None:
        """Forget the entries at and above an offset."""
        count = self.count
        while count and self.entry(count - 1)[1] >= offset:
            count -= 1
        self.keep(count)
