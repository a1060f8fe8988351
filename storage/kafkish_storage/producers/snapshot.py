"""The `.snapshot` file beside a segment: all producers as they were at the offset in its name.

version int16, 1 | CRC-32C of what follows uint32 | number of producers int32 | for each producer:
id int64 | epoch int16 | last sequence int32 | last offset int64 | offset delta int32 | timestamp int64 |
coordinator epoch int32 | first offset of the open transaction int64
"""

import struct
from collections.abc import Iterable
from typing import Final

from kafkish_protocol.records.checksum import crc32c
from kafkish_storage.producers.entry import NO_OFFSET, BatchMetadata, ProducerEntry

_VERSION: Final = 1
_PREFIX: Final = struct.Struct(">hI")
_COUNT: Final = struct.Struct(">i")
_PRODUCER: Final = struct.Struct(">qhiqiqiq")


def serialize(producers: Iterable[ProducerEntry]) -> bytes:
    parts = [
        _PRODUCER.pack(
            entry.producer_id,
            entry.epoch,
            entry.last_sequence,
            entry.last_data_offset,
            entry.batches[-1].offset_delta if entry.batches else 0,
            entry.last_timestamp,
            entry.coordinator_epoch,
            entry.transaction_first_offset,
        )
        for entry in producers
    ]
    body = _COUNT.pack(len(parts)) + b"".join(parts)
    return _PREFIX.pack(_VERSION, crc32c(body)) + body


def parse(data: bytes) -> list[ProducerEntry] | None:
    """The producers; None if the bytes are not what was written."""
    start = _PREFIX.size + _COUNT.size
    if len(data) < start:
        return None
    version, crc = _PREFIX.unpack_from(data)
    (count,) = _COUNT.unpack_from(data, _PREFIX.size)
    is_whole = len(data) - start == count * _PRODUCER.size
    if version != _VERSION or not is_whole or crc != crc32c(memoryview(data)[_PREFIX.size :]):
        return None
    return [_entry(fields) for fields in _PRODUCER.iter_unpack(memoryview(data)[start:])]


def _entry(fields: tuple[int, ...]) -> ProducerEntry:
    producer_id, epoch, last_sequence, last_offset, offset_delta, timestamp, coordinator_epoch, first_offset = fields
    entry = ProducerEntry(producer_id, epoch, coordinator_epoch, timestamp, max(first_offset, NO_OFFSET))
    if last_offset >= 0:
        entry.add(epoch, BatchMetadata(last_sequence, last_offset, offset_delta, timestamp))
    return entry
