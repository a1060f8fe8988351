"""Finds out from a log what its producers have done, starting from the latest snapshot. Owner's thread."""

from typing import Protocol

from kafkish_storage.producers import ProducerState
from kafkish_storage.producers.files import SnapshotFiles
from kafkish_storage.scan import read_batch
from kafkish_storage.segments import Segments


class Replayed(Protocol):
    """A log, or one that is being loaded."""

    producers: ProducerState
    snapshots: SnapshotFiles
    segments: Segments


def rebuild_producers(log: Replayed, start_offset: int, end_offset: int, now_ms: int) -> None:
    """Make the producers what they are at `end_offset`. Snapshots outside of the log are removed."""
    producers = log.producers
    offset, entries = log.snapshots.load(start_offset, end_offset)
    producers.reset(offset, (entry for entry in entries if not producers.is_expired(entry, now_ms)))
    for segment in log.segments.holding(offset, end_offset):
        if segment.size_bytes == 0:
            continue
        for position, header in segment.walk_from(offset):
            if header.base_offset >= end_offset:
                break
            if header.last_offset >= offset and header.has_producer_id:
                producers.apply(read_batch(segment.file, position, header) if header.is_control else header)
    producers.end_offset = end_offset
