"""Control records that end a transaction, and the key of every control record."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Data
from kafkish_protocol.types import Int16, Int32


class ControlRecordTypeSchema(Data, versions="0", flexible="none"):
    type: int = field(Int16, "0+")


class EndTxnMarker(Data, versions="0", flexible="none"):
    coordinator_epoch: int = field(Int32, "0+")
