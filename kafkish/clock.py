"""The only module that asks what time it is.

Deadlines and intervals use `monotonic_ms`, which no operator and no NTP server moves. `wall_ms` is for timestamps that
leave the process: in records, in file names, in logs.
"""

import os
import time
from pathlib import Path
from typing import Final

_IMPORTED_NS: Final = time.monotonic_ns()


def wall_ms() -> int:
    """Milliseconds since 1970, as Kafka counts."""
    return time.time_ns() // 1_000_000


def monotonic_ms() -> int:
    """Milliseconds that only ever grow; the zero means nothing."""
    return time.monotonic_ns() // 1_000_000


def monotonic_s() -> float:
    """Seconds that only ever grow, for durations too short for milliseconds."""
    return time.perf_counter()


def process_age_ms() -> int:
    """Milliseconds since the operating system made this process; since this module was imported if it does not say."""
    try:
        started_ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - started_ticks / os.sysconf("SC_CLK_TCK")
        return int(age_s * 1000)
    except (OSError, ValueError, AttributeError):
        return (time.monotonic_ns() - _IMPORTED_NS) // 1_000_000
