"""Control records at both ends of a snapshot."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Data
from kafkish_protocol.types import Int16, Int64


class SnapshotHeaderRecord(Data, versions="0", flexible="0+"):
    version: int = field(Int16, "0+")
    last_contained_log_timestamp: int = field(Int64, "0+")


class SnapshotFooterRecord(Data, versions="0", flexible="0+"):
    version: int = field(Int16, "0+")
