"""Takes batches out of a log again: at its end, at its start, or all of them. Owner's thread.

A cut is durable before anything is appended after it. Otherwise a crash could bring back part of what was cut behind
what was appended since, as one log that nobody has written.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkish_storage.names import DELETED, SEGMENT_KINDS, segment_file
from kafkish_storage.replay import rebuild_producers
from kafkish_storage.segment import Segment

if TYPE_CHECKING:
    from kafkish_storage.log import Log


def truncate(log: "Log", offset: int, now_ms: int) -> bool:
    """Cut away everything from an offset on. False if there is nothing.

    The log ends with its last batch then, even if the offset is within one or in a gap: so it would after a restart.
    If that is before its start, it starts there, too.
    """
    if offset >= log.end_offset:
        # A leader's epoch may have started at the end, before another leader was elected.
        log.epochs.truncate_end(log.end_offset)
        return False
    if offset < log.segments.first.base_offset:
        truncate_fully(log, offset, offset, now_ms)
        return True
    offset = log.segments.floor(offset).end_before(offset)
    _begin(log, offset)
    _drop(log, [segment for segment in log.segments if segment.base_offset > offset], now_ms)
    log.snapshots.keep_between(log.start_offset, offset)
    log.home.files.sync_directory(log.home.path)
    log.segments.active.truncate(offset, now_ms)
    _end(log, min(log.start_offset, offset), offset, now_ms)
    log.epochs.truncate_end(offset)
    return True


def truncate_fully(log: "Log", offset: int, start_offset: int, now_ms: int) -> None:
    """Drop everything and go on at an offset."""
    _begin(log, 0)
    _drop(log, list(log.segments), now_ms)
    log.snapshots.keep_between(0, -1)
    log.home.files.sync_directory(log.home.path)
    log.segments.add(Segment.create(log.home, offset, log.config, now_ms=now_ms))
    log.home.files.sync_directory(log.home.path)  # a log's first segment tells where it starts
    log.epochs.clear()
    _end(log, start_offset, offset, now_ms)


def _begin(log: "Log", offset: int) -> None:
    """What is on disk must not claim that more is durable than there will be: recovery would report it as lost.

    Nor that the log starts later: what is appended next would be hidden.
    """
    log.settle()
    log.generation += 1
    noted = max(log.recovery_point, log.checkpointed_recovery_point, log.start_offset)
    if offset < noted and log.on_cut is not None:
        log.on_cut(log, offset)
    log.recovery_point = min(log.recovery_point, offset)
    log.checkpointed_recovery_point = min(log.checkpointed_recovery_point, offset)


def _end(log: "Log", start_offset: int, end_offset: int, now_ms: int) -> None:
    log.tail.clear()
    log.start_offset = start_offset
    log.end_offset = end_offset
    log.recovery_point = min(log.recovery_point, end_offset)
    log.transactions_changed = True
    rebuild_producers(log, start_offset, end_offset, now_ms)
    log.update_high_watermark(min(log.high_watermark, end_offset))


def drop_before_start(log: "Log", now_ms: int) -> int:
    """Delete the segments that end before the log's start. How many.

    The start must be durable in its checkpoint: a crash that keeps some of these segments then leaves no hole.
    """
    log.settle()
    doomed = []
    for segment in log.segments:
        following = log.segments.after(segment)
        if following is None or following.base_offset > log.start_offset:
            break
        doomed.append(segment)
    _drop(log, doomed, now_ms)
    return len(doomed)


def _drop(log: "Log", segments: Sequence[Segment], now_ms: int) -> None:
    """Rename the files to `.deleted`, to be removed after `file.delete.delay.ms`: readers may still hold them."""
    for segment in segments:
        log.segments.remove(segment)
        discard(log, segment, now_ms)
        snapshot = log.snapshots.mark_deleted(segment.base_offset)
        if snapshot:
            log.garbage.append((now_ms + log.config.file_delete_delay_ms, snapshot))


def discard(log: "Log", segment: Segment, now_ms: int) -> None:
    """Rename a segment's files to `.deleted`."""
    segment.rename_files(DELETED)
    segment.sleep()
    due_ms = now_ms + log.config.file_delete_delay_ms
    names = [segment_file(segment.base_offset, kind, DELETED) for kind in SEGMENT_KINDS]
    log.garbage += [(due_ms, log.home / name) for name in names]
    log.names_changed = log.transactions_changed = True
