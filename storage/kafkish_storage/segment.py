"""One segment of a log: a file of batches and its indexes. Owner's thread.

A segment opens its files when it first needs them. It is active while it is its log's last; then it is sealed, and no
byte of its `.log` changes any more.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from kafkish_protocol.records import HEADER_BYTES, NO_TIMESTAMP, BatchHeader
from kafkish_storage.config import LogConfig
from kafkish_storage.errors import CorruptLogError
from kafkish_storage.files import File
from kafkish_storage.files.port import NO_SPACE, Buffer
from kafkish_storage.home import Home
from kafkish_storage.index import OffsetIndex, TimeIndex
from kafkish_storage.names import LOG, OFFSET_INDEX, SEGMENT_KINDS, TIME_INDEX, segment_file
from kafkish_storage.scan import checked_header, read_batch, walk
from kafkish_storage.transaction_index import TransactionIndex

MAX_RELATIVE_OFFSET: Final = 2**31 - 1
REQUIRED_KINDS: Final = (LOG, OFFSET_INDEX, TIME_INDEX)
_UNKNOWN: Final = -2  # a timestamp that has not been looked up; -1 is Kafka's "no timestamp"
_LOOKUP_WINDOW_BYTES: Final = 8 * 1024
_UNPACKED_BYTES: Final = 2**30  # of a batch that was accepted when it was produced; it is read as a stream


Found: TypeAlias = tuple[int, int, int]
"""A batch in a segment: position, size, base offset."""


class TimestampOffset(NamedTuple):
    """A record found by its timestamp."""

    timestamp: int
    offset: int
    leader_epoch: int


class Segment:
    """Batches from `base_offset` on."""

    __slots__ = (
        "_file", "_first_timestamp", "_interval_bytes", "_is_full", "_max_timestamp", "_max_timestamp_offset",
        "_unindexed_bytes", "active", "base_offset", "created_ms", "home", "is_pinned", "jitter_ms", "offset_index",
        "size_bytes", "suffix", "synced_bytes", "time_index", "transactions", "used",
    )  # fmt: skip

    def __init__(
        self,
        home: Home,
        base_offset: int,
        config: LogConfig,
        *,
        size_bytes: int,
        created_ms: int,
        jitter_ms: int = 0,
        suffix: str = "",
    ) -> None:
        self.home = home
        self.base_offset = base_offset
        self.suffix = suffix
        self.size_bytes = size_bytes
        self.synced_bytes = size_bytes
        self.created_ms = created_ms
        self.jitter_ms = jitter_ms
        self.active = False
        self.used = False
        self.is_pinned = False
        self.offset_index = OffsetIndex(home, base_offset, config.segment_index_bytes, suffix)
        self.time_index = TimeIndex(home, base_offset, config.segment_index_bytes, suffix)
        self.transactions = TransactionIndex(home, base_offset, suffix)
        self._file: File | None = None
        self._interval_bytes = config.index_interval_bytes
        self._unindexed_bytes = 0
        self._is_full = False
        self._first_timestamp = _UNKNOWN
        self._max_timestamp = _UNKNOWN
        self._max_timestamp_offset = base_offset

    @classmethod
    def create(
        cls, home: Home, base_offset: int, config: LogConfig, *, now_ms: int, jitter_ms: int = 0, suffix: str = ""
    ) -> "Segment":
        """Make an empty, active segment; what a crash left under its names is removed."""
        segment = cls(home, base_offset, config, size_bytes=0, created_ms=now_ms, jitter_ms=jitter_ms, suffix=suffix)
        for kind in SEGMENT_KINDS:
            home.files.remove(home / segment_file(base_offset, kind, suffix))
        try:
            file = home.files.open(segment.path, create=True)
            if config.preallocate:
                file.truncate(config.segment_bytes)
            segment.offset_index.create()
            segment.time_index.create()
        except OSError:
            segment.remove_files()
            raise
        segment._file = file
        segment._max_timestamp = NO_TIMESTAMP
        segment.transactions.begin()
        segment.active = True
        home.handles.opened(segment)
        return segment

    @property
    def path(self) -> str:
        return self.home / segment_file(self.base_offset, LOG, self.suffix)

    @property
    def file(self) -> File:
        if self._file is None:
            self._file = self.home.files.open(self.path)
            self.home.handles.opened(self)
        self.used = True
        return self._file

    # -- appending

    def should_roll(self, config: LogConfig, length: int, last_offset: int, timestamp: int, now_ms: int) -> bool:
        """Whether the next batches belong into another segment."""
        if self._max_timestamp == _UNKNOWN:
            self._prepare_to_append()
        size_bytes, first = self.size_bytes, self._first_timestamp
        waited_ms = timestamp - first if first >= 0 else self.waited_ms(now_ms, timestamp)
        return (
            size_bytes + length > config.segment_bytes
            or (waited_ms > config.segment_ms - self.jitter_ms and size_bytes > 0)
            or self._is_full
            or not 0 <= last_offset - self.base_offset <= MAX_RELATIVE_OFFSET
        )

    def waited_ms(self, now_ms: int, timestamp: int) -> int:
        """How old the segment is: by its batches' timestamps if they have any, else by the clock."""
        first = self._first_timestamp
        if first == _UNKNOWN:
            first = self.first_timestamp
        return timestamp - first if first >= 0 else now_ms - self.created_ms

    def write(self, buffers: Sequence[Buffer], length: int) -> None:
        """Append bytes, all or none of them."""
        file = self._file or self.file
        try:
            file.write(self.size_bytes, buffers, length)
        except OSError:
            file.truncate(self.size_bytes)
            file.sync()  # or a crash could bring back what the caller was told is not there
            raise
        self.size_bytes += length

    def note(self, position: int, size_bytes: int, last_offset: int, timestamp: int) -> None:
        """Index a batch that was written; an entry for every `index.interval.bytes`."""
        if timestamp > self._max_timestamp:
            self._max_timestamp = timestamp
            self._max_timestamp_offset = last_offset
        if position == 0:
            self._first_timestamp = timestamp
        if self._unindexed_bytes > self._interval_bytes:
            self._add_entries(last_offset, position)
        self._unindexed_bytes += size_bytes

    def _add_entries(self, last_offset: int, position: int) -> None:
        try:
            is_full = self.offset_index.append(last_offset, position)
            self._is_full = self.time_index.append(self._max_timestamp, self._max_timestamp_offset) or is_full
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            return  # the next batch tries again; an index may be sparser than it should
        self._unindexed_bytes = 0

    def _prepare_to_append(self) -> None:
        """Look up what is not known of a segment that was loaded."""
        self.largest_timestamp()
        self._is_full = self.offset_index.is_full or self.time_index.is_full

    def seal(self) -> None:
        """No longer the last: complete the time index, give back unused space."""
        timestamp, offset = self.largest_timestamp()
        if timestamp >= 0:
            self.time_index.append(timestamp, offset)
        self.offset_index.trim()
        self.time_index.trim()
        self.give_back()
        self.active = False

    def give_back(self) -> None:
        """Durably cut off what was preallocated: recovery takes what is below its point as it is."""
        if self.file.size_bytes() > self.size_bytes:
            self.file.truncate(self.size_bytes)
            self.file.sync()

    # -- finding

    def find(self, offset: int) -> Found | None:
        """The first batch that ends at or after an offset."""
        found = self._find_indexed(offset)
        if found is not None:
            return found
        for position, header in self.walk_from(offset):
            if header.last_offset >= offset:
                return position, header.size_bytes, header.base_offset
        return None

    def _find_indexed(self, offset: int) -> Found | None:
        """The batch that holds an offset, if the index points to it. Where batches are large, it does to each."""
        try:
            last_offset, position = self.offset_index.ceiling(offset)
            if not 0 <= position < self.size_bytes:
                return None
            data = self.file.read(position, HEADER_BYTES)
            header = checked_header(self.file, data, 0, position, self.size_bytes)
        except (FileNotFoundError, CorruptLogError):
            return None  # walking from an earlier entry mends the index, or reports the log
        if header.last_offset != last_offset or not header.base_offset <= offset <= last_offset:
            return None
        return position, header.size_bytes, header.base_offset

    def next_offset(self) -> int:
        """The offset after the last batch, or the base offset if there is none."""
        offset = self.base_offset
        for _, header in self.walk_from(self._index_floor(self.base_offset + MAX_RELATIVE_OFFSET)[0]):
            offset = header.next_offset
        return offset

    def end_before(self, offset: int) -> int:
        """The offset after the last batch that ends before an offset, or the base offset if there is none."""
        end_offset = self.base_offset
        for _, header in self.walk_from(offset - 1):
            if header.last_offset >= offset:
                break
            end_offset = header.next_offset
        return end_offset

    def find_timestamp(self, timestamp: int, from_offset: int) -> TimestampOffset | None:
        """The first record that is not older than a timestamp, from an offset on."""
        start = self._time_floor(timestamp)
        for position, header in self.walk_from(max(start, from_offset)):
            if header.max_timestamp < timestamp or header.last_offset < from_offset:
                continue
            for record in read_batch(self.file, position, header).records(_UNPACKED_BYTES):
                if record.timestamp >= timestamp and record.offset >= from_offset:
                    return TimestampOffset(record.timestamp, record.offset, header.leader_epoch)
        return None

    def find_largest_timestamp(self) -> TimestampOffset | None:
        """The first record with the largest timestamp."""
        timestamp, offset = self.largest_timestamp()
        for position, header in self.walk_from(offset):
            if header.max_timestamp == timestamp >= 0:
                for record in read_batch(self.file, position, header).records(_UNPACKED_BYTES):
                    if record.timestamp == timestamp:
                        return TimestampOffset(timestamp, record.offset, header.leader_epoch)
        return None

    def find_largest_timestamp_from(self, offset: int) -> TimestampOffset | None:
        """The same among the records from an offset on, found by reading them."""
        found: TimestampOffset | None = None
        for position, header in self.walk_from(offset):
            if header.last_offset < offset or (found is not None and header.max_timestamp <= found.timestamp):
                continue
            for record in read_batch(self.file, position, header).records(_UNPACKED_BYTES):
                if record.offset >= offset and record.timestamp > (found.timestamp if found else NO_TIMESTAMP):
                    found = TimestampOffset(record.timestamp, record.offset, header.leader_epoch)
        return found

    def largest_timestamp(self) -> tuple[int, int]:
        """The largest timestamp, and the last offset of the first batch that has it; (-1, base offset) if none has."""
        if self._max_timestamp == _UNKNOWN:
            found = (NO_TIMESTAMP, self.base_offset)
            for _, header in self.walk_from(self._time_floor(2**63 - 1)):
                if header.max_timestamp > found[0]:
                    found = (header.max_timestamp, header.last_offset)
            self._max_timestamp, self._max_timestamp_offset = found
        return self._max_timestamp, self._max_timestamp_offset

    @property
    def first_timestamp(self) -> int:
        """The first batch's largest timestamp, by which segments age; -1 if there is none."""
        if self._first_timestamp == _UNKNOWN and self.size_bytes:
            _, header = next(walk(self.file, 0, self.size_bytes))
            self._first_timestamp = header.max_timestamp
        return max(self._first_timestamp, NO_TIMESTAMP)

    def modified_ms(self) -> int:
        found = self.home.files.stat(self.path)
        return found.modified_ms if found else self.created_ms

    def newest_ms(self) -> int:
        """By what retention judges: the largest timestamp, or when the file was written if no batch has one."""
        timestamp, _ = self.largest_timestamp()
        return timestamp if timestamp >= 0 else self.modified_ms()

    def walk_from(self, offset: int) -> Iterator[tuple[int, BatchHeader]]:
        """Walk from a batch that the index has at or before an offset. If the index lies, mend it and walk them all."""
        entry_offset, start = self._index_floor(offset)
        if start and not self._is_batch(start, entry_offset):
            self.rebuild_indexes()
            start = 0
        return walk(self.file, start, self.size_bytes, _LOOKUP_WINDOW_BYTES)

    def _is_batch(self, position: int, offset: int) -> bool:
        """Whether a batch starts at a position, and not after an offset."""
        if position < 0:
            return False
        try:
            _, header = next(walk(self.file, position, self.size_bytes, HEADER_BYTES), (0, None))
        except CorruptLogError:
            return False
        return header is not None and self.base_offset <= header.base_offset <= offset

    def _index_floor(self, offset: int) -> tuple[int, int]:
        try:
            return self.offset_index.floor(offset)
        except FileNotFoundError:
            self.rebuild_indexes()
            return self.offset_index.floor(offset)

    def _time_floor(self, timestamp: int) -> int:
        """An offset up to which no batch is newer than a timestamp. If the time index lies, mend it."""
        try:
            entry = self.time_index.floor(timestamp)
        except FileNotFoundError:
            self.rebuild_indexes()
            entry = self.time_index.floor(timestamp)
        if entry is not None and not self._has_timestamp(*entry):
            self.rebuild_indexes()
            entry = self.time_index.floor(timestamp)
        return entry[1] if entry else self.base_offset

    def _has_timestamp(self, timestamp: int, offset: int) -> bool:
        for _, header in self.walk_from(offset):
            if header.last_offset >= offset:
                return header.base_offset <= offset and header.max_timestamp == timestamp
        return False

    # -- changing

    def rebuild_indexes(self) -> None:
        """Derive both indexes from the log."""
        self.reset_indexes()
        for position, header in walk(self.file, 0, self.size_bytes):
            self.note(position, header.size_bytes, header.last_offset, header.max_timestamp)
        if not self.active:
            self.seal()

    def reset_indexes(self) -> None:
        self.offset_index.reset()
        self.time_index.reset()
        self._unindexed_bytes = 0
        self._is_full = False
        self._max_timestamp = NO_TIMESTAMP
        self._max_timestamp_offset = self.base_offset

    def truncate(self, offset: int, now_ms: int) -> None:
        """Cut away the batches that end at or after an offset, durably."""
        found = self.find(offset)
        self.transactions.truncate(offset)
        self.offset_index.truncate(offset)
        self.time_index.truncate(offset)
        if found is not None:
            self.file.truncate(found[0])
            self.size_bytes = found[0]
        self.file.sync()
        self.synced_bytes = self.size_bytes
        if self.size_bytes == 0:
            self.created_ms = now_ms
            self._first_timestamp = _UNKNOWN
        self._unindexed_bytes = 0
        self._max_timestamp = _UNKNOWN
        self.active = True

    # -- files

    def files_to_sync(self) -> list[File]:
        """What makes the segment durable. The active one's indexes are rebuilt after a crash, and need not be."""
        if self.active:
            return [self.file]
        transactions = self.transactions.open_if_exists()
        indexes = [self.home.files.open(index.path) for index in (self.offset_index, self.time_index)]
        return [self.file, *indexes, *([transactions] if transactions else [])]

    def rename_files(self, suffix: str) -> None:
        """Give all files another suffix."""
        files = self.home.files
        for kind in SEGMENT_KINDS:
            old = self.home / segment_file(self.base_offset, kind, self.suffix)
            if kind in REQUIRED_KINDS or files.stat(old) is not None:
                files.rename(old, self.home / segment_file(self.base_offset, kind, suffix))
        self.suffix = suffix
        for index in (self.offset_index, self.time_index, self.transactions):
            index.rename(suffix)

    def remove_files(self) -> None:
        self.sleep()
        for kind in SEGMENT_KINDS:
            self.home.files.remove(self.home / segment_file(self.base_offset, kind, self.suffix))

    def move_to(self, home: Home) -> None:
        """Become part of a log. Files are open from now on, and stay so: their names will change under our feet."""
        self.sleep()
        for part in (self, self.offset_index, self.time_index, self.transactions):
            part.home = home
        self.largest_timestamp()
        assert self.file
        assert self.transactions.known() is not None
        self.offset_index.wake()
        self.time_index.wake()
        self.is_pinned = True

    def settled(self) -> None:
        """All files have their own names."""
        self.suffix = ""
        for index in (self.offset_index, self.time_index, self.transactions):
            index.rename("")
        self.is_pinned = False

    @property
    def may_sleep(self) -> bool:
        return self.synced_bytes == self.size_bytes and not self.is_pinned

    def sleep(self) -> None:
        """Close all files until the next use. Slices that were read stay readable."""
        self._file = None
        self.offset_index.sleep()
        self.time_index.sleep()
        self.transactions.sleep()
        self.home.handles.closed(self)

    def __repr__(self) -> str:
        return f"Segment({self.path}, {self.size_bytes} bytes)"
