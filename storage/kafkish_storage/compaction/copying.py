"""The part of a compaction that takes long: reads sealed segments, writes what stays of them. Any thread."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kafkish_protocol.records import Batch, BatchHeader, read_spans
from kafkish_storage.compaction.filter import UNPACKED_BYTES, Filter, LastOfProducer
from kafkish_storage.compaction.offset_map import OffsetMap
from kafkish_storage.compaction.transactions import TransactionsSeen
from kafkish_storage.config import CleanerConfig, LogConfig
from kafkish_storage.errors import CorruptLogError
from kafkish_storage.files import File
from kafkish_storage.files.port import Buffer
from kafkish_storage.home import Home
from kafkish_storage.names import CLEANED
from kafkish_storage.scan import scan, walk
from kafkish_storage.segment import MAX_RELATIVE_OFFSET, Segment
from kafkish_storage.transaction_index import AbortedTransaction

_MAX_BUFFERS: Final = 256


@dataclass(slots=True)
class CompactionStats:
    """How far a compaction is, and what it did. It reads what is dirty twice: first only to find the keys."""

    bytes_to_read: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    batches_read: int = 0
    records_read: int = 0
    keys: int = 0


class Source(NamedTuple):
    """A sealed segment, as a worker may read it; its keys are looked for from `dirty_position` on."""

    base_offset: int
    end_offset: int
    file: File
    size_bytes: int
    index_bytes: int
    time_index_bytes: int
    modified_ms: int
    dirty_position: int


class Replacement(NamedTuple):
    """A new segment, and the base offsets of those whose place it takes."""

    segment: Segment
    replaced: list[int]


@dataclass(slots=True)
class Copier:
    """All that a worker needs. `step` is called for every few bytes: it may sleep, and it may raise to stop."""

    home: Home
    config: LogConfig
    cleaner: CleanerConfig
    sources: Sequence[Source]
    dirty_offset: int
    aborted: Sequence[AbortedTransaction]
    producers: Mapping[int, LastOfProducer]
    now_ms: int
    step: Callable[[int], None]
    stats: CompactionStats

    def run(self, done: list[Replacement]) -> int:
        """Fill `done`; return the offset up to which the log is compacted then."""
        offsets = self._find_keys()
        end_offset = offsets.latest_offset + 1
        self.stats.keys = offsets.count
        sources = [source for source in self.sources if source.base_offset < end_offset]
        self.stats.bytes_to_read = self.stats.bytes_read + sum(source.size_bytes for source in sources)
        transactions = TransactionsSeen(self.aborted)
        retention_ms = self.config.delete_retention_ms
        keep = Filter(offsets, transactions, self.producers, retention_ms, self.now_ms)
        for group in group_sources(sources, self.config):
            self._copy_group(group, keep, done)
        return end_offset

    # -- finding the keys

    def _find_keys(self) -> OffsetMap:
        dirty = [source for source in self.sources if source.end_offset > self.dirty_offset]
        cleaner = self.cleaner
        offsets = OffsetMap(cleaner.dedupe_buffer_bytes, cleaner.io_buffer_load_factor, _count_records(dirty))
        offsets.latest_offset = self.dirty_offset - 1
        transactions = TransactionsSeen(entry for entry in self.aborted if entry.last_offset >= self.dirty_offset)
        for source in dirty:
            for batch in self._batches(source, source.dirty_position):
                if not self._add_keys(batch, offsets, transactions):
                    return offsets
            offsets.latest_offset = source.end_offset - 1
        return offsets

    def _add_keys(self, batch: Batch, offsets: OffsetMap, transactions: TransactionsSeen) -> bool:
        """Note the keys of a batch; False if there is no more room."""
        if batch.is_control:
            transactions.is_needless(batch)
        elif not transactions.is_aborted(batch):
            for span in read_spans(batch, batch.block(UNPACKED_BYTES)):
                offset = batch.base_offset + span.offset_delta
                if span.key is not None and offset >= self.dirty_offset:
                    if offsets.is_full:
                        return False
                    offsets.put(span.key, offset)
        offsets.latest_offset = max(offsets.latest_offset, batch.last_offset)
        return True

    def _batches(self, source: Source, position: int = 0) -> Iterator[Batch]:
        for position, batch in scan(source.file, position, source.size_bytes):  # noqa: B020, PLR1704
            if not batch.crc_is_valid():
                raise CorruptLogError(source.file.path, position, "the checksum is wrong")
            yield batch
            self.stats.bytes_read += batch.size_bytes
            self.stats.batches_read += 1
            self.stats.records_read += batch.count
            self.step(batch.size_bytes)

    # -- copying

    def _copy_group(self, group: Sequence[Source], keep: Filter, done: list[Replacement]) -> None:
        base_offset = group[0].base_offset
        segment = Segment.create(self.home, base_offset, self.config, now_ms=self.now_ms, suffix=CLEANED)
        done.append(Replacement(segment, [source.base_offset for source in group]))
        last = max((source.base_offset for source in group if source.size_bytes), default=-1)
        out = _Writer(segment, self.cleaner.io_buffer_bytes)
        for source in group:
            left_bytes = source.size_bytes
            for batch in self._batches(source):
                left_bytes -= batch.size_bytes
                kept = keep.apply(batch, is_last=left_bytes == 0 and source.base_offset == last)
                if kept is not None:
                    out.add(batch, kept)
                    self.step(len(kept))
                for entry in keep.transactions.kept:
                    segment.transactions.append(entry)
                keep.transactions.kept.clear()
        out.flush()
        self.stats.bytes_written += segment.size_bytes
        _make_durable(segment, group[-1].modified_ms)


def _count_records(sources: Iterable[Source]) -> int:
    """How many records follow the positions from which sources are dirty, by the headers of their batches."""
    return sum(
        header.count for source in sources for _, header in walk(source.file, source.dirty_position, source.size_bytes)
    )


def _make_durable(segment: Segment, modified_ms: int) -> None:
    """Complete a segment. Its file keeps the age of what was copied, by which retention may judge it."""
    segment.transactions.write()
    segment.seal()
    for file in segment.files_to_sync():
        file.sync()
    for path in (segment.path, segment.offset_index.path, segment.time_index.path):
        segment.home.files.set_modified(path, modified_ms)
    segment.synced_bytes = segment.size_bytes


class _Writer:
    """Appends batches to a segment, many at a time."""

    def __init__(self, segment: Segment, buffer_bytes: int) -> None:
        self._segment = segment
        self._buffer_bytes = buffer_bytes
        self._buffers: list[Buffer] = []
        self._batches: list[BatchHeader] = []
        self._length = 0

    def add(self, batch: Batch, kept: Buffer) -> None:
        self._buffers.append(kept)
        self._batches.append(batch if kept is batch.view else BatchHeader(kept))
        self._length += len(kept)
        if self._length >= self._buffer_bytes or len(self._buffers) >= _MAX_BUFFERS:
            self.flush()

    def flush(self) -> None:
        position = self._segment.size_bytes
        if self._buffers:
            self._segment.write(self._buffers, self._length)
        for batch in self._batches:
            self._segment.note(position, batch.size_bytes, batch.last_offset, batch.max_timestamp)
            position += batch.size_bytes
        self._buffers, self._batches, self._length = [], [], 0


def group_sources(sources: Sequence[Source], config: LogConfig) -> list[list[Source]]:
    """Put neighbours together that fit into one segment even if nothing of them goes."""
    groups: list[list[Source]] = []
    for source in sources:
        if groups and _fits(groups[-1], source, config):
            groups[-1].append(source)
        else:
            groups.append([source])
    return groups


def _fits(group: Sequence[Source], source: Source, config: LogConfig) -> bool:
    both = [*group, source]
    return (
        sum(one.size_bytes for one in both) <= config.segment_bytes
        and sum(one.index_bytes for one in both) <= config.segment_index_bytes
        and sum(one.time_index_bytes for one in both) <= config.segment_index_bytes
        and (source.size_bytes == 0 or source.end_offset - 1 - group[0].base_offset <= MAX_RELATIVE_OFFSET)
    )
