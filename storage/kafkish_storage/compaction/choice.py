"""Which log to compact next, and how far. Owner's thread."""

from collections.abc import Iterable
from dataclasses import dataclass

from kafkish_storage.log import Log


@dataclass(frozen=True, slots=True)
class Candidate:
    """A log that could be compacted: below `dirty_offset` it was, up to `end_offset` it can be."""

    log: Log
    dirty_offset: int
    end_offset: int
    clean_bytes: int
    dirty_bytes: int
    is_overdue: bool

    @property
    def dirty_ratio(self) -> float:
        total_bytes = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total_bytes if total_bytes else 0.0

    @property
    def is_dirty_enough(self) -> bool:
        return self.dirty_bytes > 0 and (
            self.is_overdue or self.dirty_ratio > self.log.config.min_cleanable_dirty_ratio
        )


def choose(logs: Iterable[tuple[Log, int | None]], now_ms: int) -> Candidate | None:
    """The dirtiest of the logs that need compaction; each comes with the offset up to which it was compacted."""
    candidates = [examine(log, offset, now_ms) for log, offset in logs if log.config.compact]
    dirty = [candidate for candidate in candidates if candidate.is_dirty_enough]
    return max(dirty, key=lambda candidate: candidate.dirty_ratio, default=None)


def examine(log: Log, cleaned_offset: int | None, now_ms: int) -> Candidate:
    """How dirty a log is."""
    dirty_offset = log.start_offset if cleaned_offset is None else cleaned_offset
    if not log.start_offset <= dirty_offset <= log.end_offset:  # the log was cut, or its start has moved
        dirty_offset = log.start_offset
    limit = log.segments.floor(max(dirty_offset, _first_uncleanable(log, dirty_offset, now_ms))).base_offset
    dirty = log.segments.holding(min(dirty_offset, limit), limit)
    clean = log.segments.before(min(dirty_offset, limit))
    return Candidate(
        log,
        dirty_offset,
        limit,
        clean_bytes=sum(segment.size_bytes for segment in clean if segment not in dirty),
        dirty_bytes=sum(segment.size_bytes for segment in dirty),
        is_overdue=_is_overdue(log, dirty_offset, now_ms),
    )


def _first_uncleanable(log: Log, dirty_offset: int, now_ms: int) -> int:
    """Not the active segment, nothing unstable, nothing too young; and nothing that recovery would read.

    Recovery takes a gap between segments for a loss, and compaction makes gaps.
    """
    limit = min(log.last_stable_offset, log.segments.active.base_offset, log.checkpointed_recovery_point)
    lag_ms = log.config.min_compaction_lag_ms
    if lag_ms > 0:
        for segment in log.segments.holding(dirty_offset, limit):
            if segment.newest_ms() > now_ms - lag_ms:
                return min(limit, segment.base_offset)
    return limit


def _is_overdue(log: Log, dirty_offset: int, now_ms: int) -> bool:
    """Whether a record has waited for longer than `max.compaction.lag.ms`."""
    dirty = log.segments.holding(dirty_offset, log.segments.active.base_offset)
    oldest_ms = min((segment.first_timestamp for segment in dirty if segment.first_timestamp > 0), default=None)
    return oldest_ms is not None and oldest_ms < now_ms - log.config.max_compaction_lag_ms
