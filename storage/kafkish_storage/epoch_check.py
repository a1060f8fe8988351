"""Compares the leader epochs of a log with its batches, and derives them if they differ. Any thread, while loading."""

from kafkish_protocol.records import BatchHeader
from kafkish_storage.home import Home
from kafkish_storage.leader_epochs import EpochStart, LeaderEpochs
from kafkish_storage.segment import MAX_RELATIVE_OFFSET
from kafkish_storage.segments import Segments


def epochs_are_true(epochs: LeaderEpochs, segments: Segments, start_offset: int) -> bool:
    """Whether each epoch starts where it says, as far as the batches that are left can tell."""
    last = _last_header(segments)
    if last is None:
        return True
    if last.leader_epoch >= 0 and epochs.latest_epoch != last.leader_epoch:
        return False
    before = [None, *epochs.entries]
    return all(_is_true(*pair, segments, start_offset) for pair in zip(before, epochs.entries, strict=False))


def _is_true(previous: EpochStart | None, entry: EpochStart, segments: Segments, start_offset: int) -> bool:
    """Whether no batch before the epoch's start is of it, and none after is older. Compaction may have left none."""
    header = _header_at(segments, entry.start_offset)
    if header is not None and header.leader_epoch < entry.epoch:
        return False
    if header is not None and header.base_offset == entry.start_offset and header.leader_epoch != entry.epoch:
        return False
    before = _header_before(segments, entry.start_offset)
    if before is None or before.last_offset < start_offset:
        return True
    return before.leader_epoch <= (previous.epoch if previous else -1)


def derive_epochs(home: Home, segments: Segments, start_offset: int) -> LeaderEpochs:
    """Find the epochs in all batches from the log's start on."""
    epochs = LeaderEpochs(home)
    epochs.changed = True
    for segment in segments:
        for _, header in segment.walk_from(segment.base_offset) if segment.size_bytes else ():
            if header.last_offset >= start_offset:
                epochs.observe(header.leader_epoch, max(header.base_offset, start_offset))
    return epochs


def _header_at(segments: Segments, offset: int) -> BatchHeader | None:
    """The first batch that ends at or after an offset."""
    for segment in segments.holding(offset, 2**63):
        for _, header in segment.walk_from(offset) if segment.size_bytes else ():
            if header.last_offset >= offset:
                return header
    return None


def _header_before(segments: Segments, offset: int) -> BatchHeader | None:
    """The last batch that starts before an offset."""
    for segment in reversed(segments.before(offset)):
        found = None
        for _, header in segment.walk_from(offset - 1) if segment.size_bytes else ():
            if header.base_offset >= offset:
                break
            found = header
        if found is not None:
            return found
    return None


def _last_header(segments: Segments) -> BatchHeader | None:
    for segment in reversed(list(segments)):
        if segment.size_bytes:
            *_, (_, last) = segment.walk_from(segment.base_offset + MAX_RELATIVE_OFFSET)
            return last
    return None
