"""The segments of a log, in order. Owner's thread."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from kafkish_storage.segment import Segment


class Segments:
    """A sorted list of segments; the last one is active."""

    __slots__ = ("_bases", "_list")

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        self._list = sorted(segments, key=lambda segment: segment.base_offset)
        self._bases = [segment.base_offset for segment in self._list]

    def __len__(self) -> int:
        return len(self._list)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._list)

    def __contains__(self, segment: object) -> bool:
        return segment in self._list

    @property
    def active(self) -> Segment:
        return self._list[-1]

    @property
    def first(self) -> Segment:
        return self._list[0]

    @property
    def size_bytes(self) -> int:
        return sum(segment.size_bytes for segment in self._list)

    def floor(self, offset: int) -> Segment:
        """The segment that holds an offset, if any does; the first one for what is before it."""
        return self._list[max(0, bisect_right(self._bases, offset) - 1)]

    def after(self, segment: Segment) -> Segment | None:
        at = bisect_right(self._bases, segment.base_offset)
        return self._list[at] if at < len(self._list) else None

    def before(self, offset: int) -> list[Segment]:
        """Those that start before an offset."""
        return self._list[: bisect_left(self._bases, offset)]

    def holding(self, start_offset: int, end_offset: int) -> list[Segment]:
        """Those that can hold an offset from the start up to, and without, the end."""
        first = max(0, bisect_right(self._bases, start_offset) - 1)
        return self._list[first : max(first, bisect_left(self._bases, end_offset))]

    def add(self, segment: Segment) -> None:
        at = bisect_left(self._bases, segment.base_offset)
        self._list.insert(at, segment)
        self._bases.insert(at, segment.base_offset)

    def replace(self, old: Sequence[Segment], new: Iterable[Segment]) -> None:
        kept = [segment for segment in self._list if segment not in old]
        self.__init__([*kept, *new])  # type: ignore[misc]  # sorted anew

    def remove(self, segment: Segment) -> None:
        at = self._list.index(segment)
        del self._list[at]
        del self._bases[at]
