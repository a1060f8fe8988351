"""Slows compaction down to `log.cleaner.io.max.bytes.per.second`. Any thread, one at a time."""

from collections.abc import Callable


class Throttle:
    """Sleeps as long as bytes came faster than they may. Time and sleep are the caller's."""

    def __init__(self, bytes_per_second: float, now_s: Callable[[], float], sleep: Callable[[float], object]) -> None:
        self._rate = bytes_per_second
        self._now_s = now_s
        self._sleep = sleep
        self._free_at_s = now_s()

    def __call__(self, count_bytes: int) -> None:
        """Bytes were read or written."""
        now_s = self._now_s()
        self._free_at_s = max(self._free_at_s, now_s) + count_bytes / self._rate
        if self._free_at_s > now_s:
            self._sleep(self._free_at_s - now_s)
