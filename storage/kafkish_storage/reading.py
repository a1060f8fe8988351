"""Finds the bytes that a fetch is answered with. Owner's thread; what it returns can be read on any."""

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kafkish_storage.aborted import aborted_between
from kafkish_storage.files import File
from kafkish_storage.segment import Segment
from kafkish_storage.transaction_index import AbortedTransaction

if TYPE_CHECKING:
    from kafkish_storage.log import Log


class Slice:
    """Bytes of a file. It holds the file open: it can be read even if the segment is deleted or compacted."""

    __slots__ = ("file", "length", "position")

    def __init__(self, file: File, position: int, length: int) -> None:
        self.file = file
        self.position = position
        self.length = length

    def __len__(self) -> int:
        return self.length

    def fileno(self) -> int:
        """For sendfile."""
        return self.file.fileno()

    def read(self) -> bytes:
        """Any thread."""
        return self.file.read(self.position, self.length)


class Read(NamedTuple):
    """Batches from an offset on: whole ones, but the last may be cut off. `base_offset` is the first one's."""

    records: Slice | None
    base_offset: int
    aborted: list[AbortedTransaction]
    segment: Segment | None = None


_Place: TypeAlias = tuple[Segment, int, int, int]
"""A batch in a log: segment, position, size, base offset."""


def read(log: "Log", offset: int, max_bytes: int, upper_offset: int, *, at_least_one: bool) -> Read | None:
    """The slice from a batch on; None if there is nothing to read."""
    place = _locate(log, offset) if offset < upper_offset else None
    if place is None:
        return None
    segment, position, size_bytes, base_offset = place
    if size_bytes > max_bytes:
        max_bytes = size_bytes if at_least_one else 0
    length = min(_end_position(log, segment, upper_offset) - position, max_bytes)
    return Read(Slice(segment.file, position, length), base_offset, [], segment) if length > 0 else None


def _locate(log: "Log", offset: int) -> _Place | None:
    """The first batch that ends at or after an offset."""
    late = log.tail.get(offset)
    if late is not None:
        return (*late, offset)
    for segment in log.segments.holding(offset, log.end_offset):
        found = segment.find(offset) if segment.size_bytes else None
        if found is not None:
            return (segment, *found)
    return None


def _end_position(log: "Log", segment: Segment, upper_offset: int) -> int:
    """Where the batches of a segment that are below an offset end."""
    following = log.segments.after(segment)
    if upper_offset >= (log.end_offset if following is None else following.base_offset):
        return segment.size_bytes
    place = _locate(log, upper_offset)
    if place is None or place[0].base_offset > segment.base_offset:
        return segment.size_bytes
    return place[1] if place[0] is segment else 0


def aborted_in(log: "Log", offset: int, found: Read) -> list[AbortedTransaction]:
    """The aborted transactions that a reader of a slice must know."""
    assert found.records is not None
    assert found.segment is not None
    upper = found.segment.offset_index.first_after_position(found.records.position + found.records.length)
    if upper is None:
        following = log.segments.after(found.segment)
        upper = following.base_offset if following else log.end_offset
    return aborted_between(log, offset, upper)
