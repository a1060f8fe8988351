"""Batches for tests, and what a plain reader makes of them."""

from collections.abc import Iterable, Iterator, Sequence

from kafkish_protocol.records import (
    Batch,
    BatchHeader,
    Compression,
    ControlType,
    Record,
    build_batch,
    build_end_marker,
    read_batches,
    read_control_type,
)
from kafkish_storage.log import Log


def batch(
    *values: bytes | None,
    key: bytes | None = b"k",
    timestamp: int = 1000,
    producer_id: int = -1,
    epoch: int = -1,
    sequence: int = -1,
    transactional: bool = False,
    compression: Compression = Compression.NONE,
) -> Batch:
    """A batch as a producer sends it; read-only, as a frame may be."""
    records = [Record(offset, timestamp + offset, key, value) for offset, value in enumerate(values)]
    return Batch(
        bytes(
            build_batch(
                records,
                producer_id=producer_id,
                producer_epoch=epoch,
                base_sequence=sequence,
                transactional=transactional,
                compression=compression,
            )
        )
    )


def keyed(pairs: Sequence[tuple[bytes | None, bytes | None]], timestamp: int = 1000, **options: object) -> Batch:
    """A batch of records with keys."""
    records = [Record(offset, timestamp, key, value) for offset, (key, value) in enumerate(pairs)]
    return Batch(bytes(build_batch(records, **options)))  # type: ignore[arg-type]


def marker(commit: bool, producer_id: int, epoch: int = 0, timestamp: int = 1000, coordinator_epoch: int = 0) -> Batch:
    """The end of a transaction, as a coordinator writes it."""
    return Batch(
        bytes(
            build_end_marker(
                commit,
                producer_id=producer_id,
                producer_epoch=epoch,
                coordinator_epoch=coordinator_epoch,
                timestamp=timestamp,
            )
        )
    )


def read_all(log: Log, max_bytes: int = 1 << 20) -> list[Batch]:
    """All batches of a log, read as a consumer does: from its start, a slice at a time."""
    found: list[Batch] = []
    offset = log.start_offset
    while offset < log.end_offset:
        records = log.read(offset, max_bytes).records
        if records is None:
            break
        for one in whole_batches(records.read()):
            found.append(one)
            offset = one.next_offset
    return found


def whole_batches(data: bytes) -> Iterator[Batch]:
    """The batches of a slice, without the one at the end that may be cut off."""
    position = 0
    while position + 61 <= len(data) and position + BatchHeader(data, position).size_bytes <= len(data):
        one = Batch(data, position)
        yield one
        position += one.size_bytes


def records_of(batches: Iterable[Batch]) -> list[Record]:
    return [record for one in batches if not one.is_control for record in one.records()]


def flush(log: Log) -> int:
    """Make a log durable, in one thread."""
    job = log.flush()
    job.run()
    return job.finish()


def aborted_offsets(batches: Iterable[Batch]) -> set[int]:
    """The base offsets of the batches whose transactions were aborted, found by reading to the end."""
    open_batches: dict[int, list[int]] = {}
    aborted: set[int] = set()
    for one in batches:
        if not one.is_transactional:
            continue
        if not one.is_control:
            open_batches.setdefault(one.producer_id, []).append(one.base_offset)
        elif one.count:
            mine = open_batches.pop(one.producer_id, [])
            if read_control_type(next(one.records())) == ControlType.ABORT:
                aborted.update(mine)
    return aborted


def aborted_offsets_by_index(log: Log, batches: Sequence[Batch]) -> set[int]:
    """The same, as a consumer finds them: from the list of aborted transactions that a fetch returns."""
    waiting = sorted(log.aborted_transactions(log.start_offset, log.end_offset), key=lambda entry: entry.first_offset)
    now_aborted: set[int] = set()
    aborted: set[int] = set()
    for one in batches:
        while waiting and waiting[0].first_offset <= one.last_offset:
            now_aborted.add(waiting.pop(0).producer_id)
        if one.is_control and one.count and read_control_type(next(one.records())) == ControlType.ABORT:
            now_aborted.discard(one.producer_id)
        elif one.is_transactional and not one.is_control and one.producer_id in now_aborted:
            aborted.add(one.base_offset)
    return aborted


def parse_all(data: bytes) -> list[Batch]:
    return list(read_batches(data))
