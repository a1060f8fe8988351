"""The `.snapshot` file beside a segment: producers and their last batches."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Data, Struct
from kafkish_protocol.types import Array, Int16, Int32, Int64, Uint32


class ProducerEntry(Struct):
    producer_id: int = field(Int64, "1")
    epoch: int = field(Int16, "1")
    last_sequence: int = field(Int32, "1")
    last_offset: int = field(Int64, "1")
    offset_delta: int = field(Int32, "1")
    timestamp: int = field(Int64, "1")
    coordinator_epoch: int = field(Int32, "1")
    current_txn_first_offset: int = field(Int64, "1")


class ProducerSnapshot(Data, versions="1", flexible="none"):
    crc: int = field(Uint32, "1")
    producer_entries: list[ProducerEntry] = field(Array(ProducerEntry), "1")
