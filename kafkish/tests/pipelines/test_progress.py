"""What a run shows of itself, from Spark's own reports."""

import io
import json
from typing import Any

import pytest

from kafkish.pipelines import progress
from kafkish.pipelines.progress import Display, Meter


def report(batch: int, rows: int, end: int, latest: int, **more: Any) -> dict[str, Any]:
    """Spark's report of a batch of a topic with one partition."""
    source = {
        "startOffset": json.dumps({"orders": {"0": end - rows}}),
        "endOffset": json.dumps({"orders": {"0": end}}),
        "latestOffset": json.dumps({"orders": {"0": latest}}),
    }
    return {
        "batchId": batch, "numInputRows": rows, "inputRowsPerSecond": 1234.5, "processedRowsPerSecond": 5678.9,
        "batchDuration": 1500, "sources": [source], "stateOperators": [], **more,
    }  # fmt: skip


def test_a_run_with_an_end_has_a_bar() -> None:
    meter = Meter("revenue", first={"orders-0": 0}, goal={"orders-0": 1000})
    meter.take(report(0, rows=250, end=250, latest=1000))
    assert "[######------------------]  25%" in meter.line()
    assert "250 rows  in 1,234/s  done 5,679/s  batch 1.5 s  lag 750 (orders-0 750)" in meter.line()
    meter.take(report(0, rows=250, end=250, latest=1000))
    assert meter.rows == 250, "a report that is seen twice counts once"
    meter.take(report(1, rows=750, end=1000, latest=1000))
    meter.finished = True
    assert "[########################] 100%  1,000 rows  333/s  3.0 s  lag 0" in meter.line()


def test_a_run_that_goes_on_after_a_stop_begins_its_bar_there() -> None:
    meter = Meter("revenue", first={"orders-0": 0}, goal={"orders-0": 1000})
    meter.take(report(7, rows=100, end=900, latest=1000))
    assert meter.share() == pytest.approx(0.5)


def test_the_partitions_that_are_furthest_behind_are_named() -> None:
    lags = {f"t-{n}": n for n in range(7)}
    assert progress.lag_text(lags) == "lag 21 (t-6 6, t-5 5, t-4 4, t-3 3, …)"


def test_rows_that_came_too_late_are_told() -> None:
    meter = Meter("revenue")
    meter.take(report(0, 10, 10, 10, stateOperators=[{"numRowsDroppedByWatermark": 3}]))
    assert "3 rows later than the watermark left out" in meter.line()


def test_a_file_gets_a_line_only_when_there_is_news(monkeypatch: pytest.MonkeyPatch) -> None:
    times_ms = iter((0, 0, 1_000, 6_000, 6_000, 6_001))
    monkeypatch.setattr("kafkish.clock.monotonic_ms", lambda: next(times_ms))
    stream, meter = io.StringIO(), Meter("revenue")
    display = Display(stream)
    for batch in range(3):
        meter.take(report(batch, 10, 10 * (batch + 1), 100))
        display.show([meter])
    display.show([meter])
    display.finish([meter])
    assert [line.split()[1] for line in stream.getvalue().splitlines()] == ["10", "30"]


def test_a_terminal_is_drawn_over() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    display = Display(stream)
    display.show([Meter("one"), Meter("two")])
    display.show([Meter("one"), Meter("two")])
    assert stream.getvalue().count("\x1b[2A") == 1
