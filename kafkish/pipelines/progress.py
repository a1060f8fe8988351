"""Live progress: rows per second, lag, duration of a batch, and a bar for a run that has an end.

On a terminal, one line for each sink that is drawn again and again; elsewhere, a plain line now and then.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TextIO

from kafkish import clock

Places = dict[str, int]
"""`orders-0` -> offset."""

BAR_CELLS: Final = 24
SHOWN_PARTITIONS: Final = 4
PLAIN_INTERVAL_MS: Final = 5_000


@dataclass(slots=True)
class Meter:
    """How far one sink came."""

    name: str
    first: Places = field(default_factory=dict)
    """Where the run may begin, unless the checkpoint says otherwise."""
    goal: Places | None = None
    """Where it ends, if it does."""
    rows: int = 0
    batches: int = 0
    late_rows: int = 0
    """Rows that came later than the watermark allows: Spark leaves them out."""
    input_rate: float = 0.0
    rate: float = 0.0
    batch_ms: int = 0
    busy_ms: int = 0
    """The batches together."""
    lags: Places = field(default_factory=dict)
    finished: bool = False
    _begin: Places = field(default_factory=dict)
    _at: Places = field(default_factory=dict)
    _last_batch: int = -1

    def take(self, progress: Mapping[str, Any]) -> None:
        """Learn from Spark's report of a batch; one that was seen already says nothing new."""
        if progress["batchId"] <= self._last_batch:
            return
        self._last_batch = progress["batchId"]
        self.rows += progress["numInputRows"]
        self.batches += 1
        self.busy_ms += int(progress.get("batchDuration") or 0)
        self.late_rows += sum(int(state.get("numRowsDroppedByWatermark", 0)) for state in progress["stateOperators"])
        if progress["numInputRows"]:
            self.input_rate = progress.get("inputRowsPerSecond") or 0.0
            self.rate = progress.get("processedRowsPerSecond") or 0.0
            self.batch_ms = int(progress.get("batchDuration") or 0)
        for source in progress["sources"]:
            self._take_offsets(*(offsets(source.get(name)) for name in ("startOffset", "endOffset", "latestOffset")))

    def _take_offsets(self, start: Places, end: Places, latest: Places) -> None:
        for place, at in end.items():
            self._begin.setdefault(place, start.get(place, self.first.get(place, 0)))
            self._at[place] = at
            self.lags[place] = max(0, latest.get(place, at) - at)

    def advance(self, done: int, total: int, elapsed_ms: int) -> None:
        """Learn from a job that is no query of Spark's."""
        self.rate = (done - self.rows) * 1_000 / max(1, elapsed_ms - self.busy_ms)
        self.rows, self.busy_ms, self.batches = done, elapsed_ms, self.batches + 1
        self.goal, self._begin, self._at = {self.name: total}, {self.name: 0}, {self.name: done}

    def share(self) -> float:
        """How much of the way is done, from 0 to 1."""
        goal = self.goal or {}
        way = sum(max(0, goal.get(place, at) - self._begin[place]) for place, at in self._at.items())
        done = sum(at - self._begin[place] for place, at in self._at.items())
        return 1.0 if self.finished else min(1.0, done / way) if way else 0.0

    def line(self) -> str:
        """One line for a person."""
        parts = [f"{self.name:<20}"]
        if self.goal is not None:
            filled = int(self.share() * BAR_CELLS)
            parts.append(f"[{'#' * filled}{'-' * (BAR_CELLS - filled)}] {self.share():4.0%}")
        parts.append(f"{self.rows:,} rows")
        if self.finished:
            parts.append(f"{self.rows * 1_000 / max(1, self.busy_ms):,.0f}/s  {self.busy_ms / 1_000:.1f} s")
        else:
            parts.append(f"in {self.input_rate:,.0f}/s  done {self.rate:,.0f}/s  batch {self.batch_ms / 1_000:.1f} s")
        if self.lags:
            parts.append(lag_text(self.lags))
        if self.late_rows:
            parts.append(f"{self.late_rows:,} rows later than the watermark left out")
        return "  ".join(parts)


def offsets(value: object) -> Places:
    """`{"orders": {"0": 17}}`, as text or read already; sources that are not topics have other offsets."""
    found = json.loads(value) if isinstance(value, str) and value.startswith("{") else value
    places: Places = {}
    for topic, partitions in found.items() if isinstance(found, dict) else ():
        if isinstance(partitions, dict):
            places.update({f"{topic}-{partition}": int(at) for partition, at in partitions.items()})
    return places


def lag_text(lags: Mapping[str, int]) -> str:
    """The sum, and the partitions that are furthest behind."""
    behind = sorted((place for place in lags if lags[place]), key=lambda place: -lags[place])
    shown = ", ".join(f"{place} {lags[place]:,}" for place in behind[:SHOWN_PARTITIONS])
    more = ", …" if len(behind) > SHOWN_PARTITIONS else ""
    return f"lag {sum(lags.values()):,}" + (f" ({shown}{more})" if shown else "")


class Display:
    """Draws meters on a terminal, or writes lines to a file."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._drawn = 0
        self._next_plain_ms = 0
        self._last: dict[str, tuple[int, bool]] = {}

    def show(self, meters: list[Meter]) -> None:
        """Draw again; a plain line only every few seconds, and only when there is news."""
        if self._live:
            self._draw(meters)
        elif clock.monotonic_ms() >= self._next_plain_ms:
            self._next_plain_ms = clock.monotonic_ms() + PLAIN_INTERVAL_MS
            self._write(meters)

    def finish(self, meters: list[Meter]) -> None:
        """The last word on every meter."""
        if self._live:
            self._draw(meters)
        else:
            self._write(meters)
        self._drawn = 0

    def _draw(self, meters: list[Meter]) -> None:
        up = f"\x1b[{self._drawn}A" if self._drawn else ""
        self._stream.write(up + "".join(f"\r\x1b[2K{meter.line()}\n" for meter in meters))
        self._stream.flush()
        self._drawn = len(meters)

    def _write(self, meters: list[Meter]) -> None:
        for meter in meters:
            news = (meter.batches, meter.finished)
            if self._last.get(meter.name, (0, False)) != news:
                self._stream.write(meter.line() + "\n")
                self._last[meter.name] = news
        self._stream.flush()
