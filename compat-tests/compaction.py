"""Topics that are compacted soon, and what is left of them."""

from typing import Final

import batches
import control
from batches import Record
from waiting import now_ms, until
from wire import Wire

# A segment closes at the first append after a tenth of a second; then it may be cleaned at once.
EAGER: Final = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.0",
    "segment.ms": "100",
    "delete.retention.ms": "0",
}


def keyed(key: bytes, value: bytes | None) -> bytearray:
    return batches.build([Record(value, key, timestamp_ms=now_ms())])


def close_segment(wire: Wire, topic: str) -> None:
    """The active segment is never cleaned; an append after a while starts another one."""
    control.produce(wire, topic, keyed(b"filler", b"filler"))


def remaining(wire: Wire, topic: str) -> list[tuple[int, bytes, bytes | None]]:
    """Offset, key and value of all that is left."""
    found: list[tuple[int, bytes, bytes | None]] = []
    offset = 0
    end = control.end_offset(wire, topic)
    while offset < end:
        for batch in batches.read(control.fetch(wire, topic, offset).records):
            found += [(record.offset, record.key, record.value) for record in batch]
            offset = batch.last_offset + 1
    return found


def wait_for_compaction(wire: Wire, topic: str, first_offset: int) -> None:
    """Wait until nothing before `first_offset` is left."""

    def compacted() -> bool:
        close_segment(wire, topic)
        return remaining(wire, topic)[0][0] >= first_offset

    until(compacted, f"nothing before offset {first_offset}")
