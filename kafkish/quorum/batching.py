"""Records of the controller become batches of the metadata log.

What fits goes into one batch, which is committed as a whole. What does not is cut if it may be; if not, it goes into a
metadata transaction (KIP-868), so that it still takes effect as a whole.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from kafkish.metadata import versions
from kafkish.metadata.records import encode_record, record_version
from kafkish_protocol.records import Batch, Record, build_batch
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_transactions import BeginTransactionRecord, EndTransactionRecord

MAX_BATCH_BYTES: Final = 8 * 1024 * 1024
"""Kafka's `internal.metadata.max.batch.size.in.bytes`."""
MAX_BATCH_RECORDS: Final = 10_000
_ROOM_BYTES: Final = 64  # at most, for what a record has besides its value


def plan_batches(
    records: Sequence[MetadataRecord], metadata_version: int, *, atomic: bool, now_ms: int
) -> list[tuple[Sequence[MetadataRecord], Batch]]:
    """The batches to append one after the other, each with the records in it."""
    parts = list(_parts(records, metadata_version))
    if atomic and len(parts) > 1 and not isinstance(records[0], BeginTransactionRecord):
        if metadata_version < versions.METADATA_TRANSACTIONS:
            raise ValueError(f"{len(records)} records fit into no batch, and metadata.version is too old for more")
        name = f"{len(records)} records"
        parts = list(_parts([BeginTransactionRecord(name=name), *records, EndTransactionRecord()], metadata_version))
    return [([record for record, _ in part], _batch([value for _, value in part], now_ms)) for part in parts]


def _batch(values: list[bytes], now_ms: int) -> Batch:
    return Batch(build_batch([Record(delta, now_ms, None, value) for delta, value in enumerate(values)]))


def _parts(records: Sequence[MetadataRecord], metadata_version: int) -> Iterator[list[tuple[MetadataRecord, bytes]]]:
    part: list[tuple[MetadataRecord, bytes]] = []
    size_bytes = 0
    for record in records:
        value = encode_record(record, record_version(record, metadata_version))
        if part and (len(part) == MAX_BATCH_RECORDS or size_bytes + len(value) + _ROOM_BYTES > MAX_BATCH_BYTES):
            yield part
            part, size_bytes = [], 0
        part.append((record, value))
        size_bytes += len(value) + _ROOM_BYTES
    if part:
        yield part
