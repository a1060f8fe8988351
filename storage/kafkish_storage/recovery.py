"""Reads the end of a log after a crash: what is whole stays, what is not goes. Any thread, while loading."""

from typing import TYPE_CHECKING, Protocol

from kafkish_protocol.records import Batch
from kafkish_storage.config import LogConfig
from kafkish_storage.errors import CorruptLogError
from kafkish_storage.leader_epochs import LeaderEpochs
from kafkish_storage.producers import ProducerState
from kafkish_storage.replay import Replayed, rebuild_producers
from kafkish_storage.scan import scan
from kafkish_storage.segment import MAX_RELATIVE_OFFSET, Segment
from kafkish_storage.transaction_index import AbortedTransaction

if TYPE_CHECKING:
    from kafkish_storage.loading import LoadOptions


class Loading(Replayed, Protocol):
    """A log that is being loaded."""

    epochs: LeaderEpochs
    config: LogConfig
    options: "LoadOptions"


def recover_unflushed(log: Loading) -> bool:
    """Check every batch from the segment of the recovery point on; cut the log before the first that is not whole.

    Indexes, leader epochs and producers of these segments are derived anew. Whether files were removed.
    """
    recovery_point = log.options.recovery_point
    first = log.segments.floor(recovery_point)
    log.epochs.truncate_end(first.base_offset)
    rebuild_producers(log, log.options.start_offset, first.base_offset, log.options.now_ms)
    for segment in log.segments.holding(first.base_offset, 2**63):
        log.producers.end_offset = segment.base_offset
        log.snapshots.take(log.producers)
        valid_bytes, end_offset, damage = _recover(segment, log)
        if damage is None and not _lost_its_end(segment, end_offset, log):
            segment.seal()
            continue
        if end_offset < recovery_point:
            reason = f"{damage or f'it ends at offset {end_offset}'}, and it was durable up to {recovery_point}"
            raise CorruptLogError(segment.path, valid_bytes, reason)
        _cut(log, segment, valid_bytes)
        return True
    return False


def _recover(segment: Segment, log: Loading) -> tuple[int, int, str | None]:
    """Read a segment: how many bytes are good, the offset after them, and why the next are not."""
    segment.reset_indexes()
    aborted: list[AbortedTransaction] = []
    valid_bytes, expected, damage = 0, segment.base_offset, None
    try:
        for position, batch in scan(segment.file, 0, segment.size_bytes):
            damage = _fault(segment, batch, expected)
            if damage is not None:
                break
            segment.note(position, batch.size_bytes, batch.last_offset, batch.max_timestamp)
            log.epochs.observe(batch.leader_epoch, batch.base_offset)
            aborted += _apply(log.producers, batch)
            valid_bytes, expected = position + batch.size_bytes, batch.next_offset
            if log.options.progress is not None:
                log.options.progress(batch.size_bytes)
    except CorruptLogError as error:
        damage = error.reason
    segment.transactions.replace(aborted)
    return valid_bytes, expected, damage


def _fault(segment: Segment, batch: Batch, expected_offset: int) -> str | None:
    """Why a batch is not as it was written."""
    if not batch.crc_is_valid():
        return "the checksum is wrong"
    if batch.base_offset < expected_offset:
        return f"offset {batch.base_offset} is not above those before it, expected {expected_offset}"
    if batch.last_offset - segment.base_offset > MAX_RELATIVE_OFFSET:
        return f"offset {batch.last_offset} is too far from the segment's first"
    return None


def _lost_its_end(segment: Segment, end_offset: int, log: Loading) -> bool:
    """Whether a good segment should go on: a crash may keep the next segment and not the end of this one."""
    following = log.segments.after(segment)
    if following is None or following.base_offset - segment.base_offset > MAX_RELATIVE_OFFSET:
        return False
    return end_offset < following.base_offset and (log.options.gaps_are_damage or not log.config.compact)


def _cut(log: Loading, segment: Segment, valid_bytes: int) -> None:
    """End the log in a segment. What follows goes first: a crash here must not find it behind a good end."""
    for later in log.segments.holding(segment.base_offset, 2**63)[1:]:
        log.segments.remove(later)
        later.remove_files()
        log.snapshots.remove(later.base_offset)
    segment.home.files.sync_directory(segment.home.path)
    segment.file.truncate(valid_bytes)
    segment.file.sync()
    segment.size_bytes = segment.synced_bytes = valid_bytes
    segment.seal()


def _apply(producers: ProducerState, batch: Batch) -> list[AbortedTransaction]:
    """Take in a batch; the aborted transaction that it ends, if it does."""
    ended = producers.apply(batch) if batch.has_producer_id else None
    return [AbortedTransaction.of(ended)] if ended is not None and ended.is_aborted else []
