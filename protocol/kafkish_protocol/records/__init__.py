"""Record batches, format 2: what producers send, logs keep and consumers read.

A batch is a header of 61 bytes and a block of records, compressed as a whole. Most of the time only the header matters
(`batch`); records are read one by one where someone must look at them (`record`), and batches are made by `builder`.
"""

from kafkish_protocol.records.batch import (
    HEADER_BYTES,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    Batch,
    BatchHeader,
    assign_offset,
    read_batches,
    set_max_timestamp,
    stamp,
)
from kafkish_protocol.records.builder import build_batch, thin_batch
from kafkish_protocol.records.compression import Compression
from kafkish_protocol.records.control import (
    ControlType,
    build_control_batch,
    build_end_marker,
    read_control_type,
    read_coordinator_epoch,
)
from kafkish_protocol.records.errors import (
    CorruptBatchError,
    InvalidRecordError,
    TooLargeError,
    UnknownCompressionError,
)
from kafkish_protocol.records.record import Record, RecordSpan, read_spans

__all__ = [
    "HEADER_BYTES",
    "NO_PRODUCER_EPOCH",
    "NO_PRODUCER_ID",
    "NO_SEQUENCE",
    "NO_TIMESTAMP",
    "Batch",
    "BatchHeader",
    "Compression",
    "ControlType",
    "CorruptBatchError",
    "InvalidRecordError",
    "Record",
    "RecordSpan",
    "TooLargeError",
    "UnknownCompressionError",
    "assign_offset",
    "build_batch",
    "build_control_batch",
    "build_end_marker",
    "read_batches",
    "read_control_type",
    "read_coordinator_epoch",
    "read_spans",
    "set_max_timestamp",
    "stamp",
    "thin_batch",
]
