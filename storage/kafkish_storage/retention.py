"""Which segments of a log may be deleted: before its start, too much, too old. Owner's thread."""

from kafkish_storage.log import Log
from kafkish_storage.segment import Segment


def expire(log: Log, now_ms: int) -> None:
    """Move the log's start over the segments that its settings let go. `Log.drop_before_start` deletes them later.

    Nothing above the high watermark goes. If all segments may go, a new one is started first.
    """
    expired = _count(log, now_ms)
    if expired == len(log.segments):
        log.roll(now_ms)
    if expired:
        start_offset = list(log.segments)[expired].base_offset
        log.advance_start(start_offset)


def _count(log: Log, now_ms: int) -> int:
    """How many segments may go, from the first on."""
    segments = list(log.segments)
    count = len([segment for segment in segments[1:] if segment.base_offset <= log.start_offset])
    if not log.config.delete:
        return count
    excess_bytes = sum(segment.size_bytes for segment in segments[count:]) - log.config.retention_bytes
    while count < len(segments) and log.config.retention_bytes >= 0 and _may_go(log, segments[count]):
        excess_bytes -= segments[count].size_bytes
        if excess_bytes < 0:
            break
        count += 1
    while count < len(segments) and log.config.retention_ms >= 0 and _may_go(log, segments[count]):
        if now_ms - segments[count].newest_ms() <= log.config.retention_ms:
            break
        count += 1
    return count


def _may_go(log: Log, segment: Segment) -> bool:
    """Whether a segment is wholly replicated; an empty last one stays."""
    if segment is log.segments.active and segment.size_bytes == 0:
        return False
    return _upper_offset(log, segment) <= log.high_watermark


def _upper_offset(log: Log, segment: Segment) -> int:
    following = log.segments.after(segment)
    return following.base_offset if following else log.end_offset
