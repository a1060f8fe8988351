"""Control batches: records that the log and its readers understand, and that clients never see."""

import struct
from enum import IntEnum

from kafkish_protocol.records.batch import NO_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, Batch
from kafkish_protocol.records.builder import build_batch
from kafkish_protocol.records.errors import InvalidRecordError
from kafkish_protocol.records.record import Record


class ControlType(IntEnum):
    """The number in a control record's key."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


def read_control_type(record: Record) -> int:
    """The type in a control record's key; a number, since a newer Kafka may know more of them."""
    if record.key is None or len(record.key) < 4:
        raise InvalidRecordError("a control record's key has 4 bytes", path="key")
    version, number = struct.unpack_from(">hh", record.key)
    if version < 0:
        raise InvalidRecordError(f"a control record's key has version {version}", path="key")
    kind: int = number
    return kind


def build_control_batch(
    kind: ControlType,
    value: bytes,
    *,
    offset: int = 0,
    timestamp: int,
    leader_epoch: int = NO_LEADER_EPOCH,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
) -> bytearray:
    """A batch of one control record; with a producer id it belongs to that producer's transaction."""
    record = Record(offset, timestamp, struct.pack(">hh", 0, kind), value)
    return build_batch(
        [record],
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=producer_id != NO_PRODUCER_ID,
        control=True,
    )


def build_end_marker(
    commit: bool,
    *,
    producer_id: int,
    producer_epoch: int,
    coordinator_epoch: int,
    timestamp: int,
    offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
) -> bytearray:
    """The marker that ends a transaction in one partition."""
    return build_control_batch(
        ControlType.COMMIT if commit else ControlType.ABORT,
        struct.pack(">hi", 0, coordinator_epoch),
        offset=offset,
        timestamp=timestamp,
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
    )


def read_coordinator_epoch(batch: Batch) -> int:
    """The coordinator's epoch in the marker that ends a transaction."""
    record = next(batch.records())
    if record.value is None or len(record.value) < 6:
        raise InvalidRecordError("an end marker's value has 6 bytes", path="value")
    epoch: int = struct.unpack_from(">hi", record.value)[1]
    return epoch
