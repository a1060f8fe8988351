"""The print sink: rows as a table of text on standard output."""

import sys
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame

from kafkish.pipelines.model import PrintSink


class Printer:
    """Prints the first rows: of every batch as it comes, or of the whole run at its end."""

    def __init__(self, sink: PrintSink, live: bool) -> None:
        self._sink, self._live = sink, live
        self._columns: list[str] = []
        self._rows: list[Any] = []

    def take(self, rows: DataFrame, batch: int) -> None:
        """Keep the first rows of a batch; a complete table replaces the one before."""
        del batch
        ordered = rows.orderBy(*self._sink.order_by) if self._sink.order_by else rows
        found: list[Any] = ordered.limit(self._sink.rows).collect()
        self._columns = rows.columns
        self._rows = found if self._live or self._sink.mode == "complete" else [*self._rows, *found]
        if self._live:
            self.finish()

    def finish(self) -> None:
        """Print what was kept."""
        if self._rows:
            sys.stdout.write(f"\n{self._sink.name}\n{table_text(self._columns, self._rows[: self._sink.rows])}\n\n")
            sys.stdout.flush()


def table_text(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns under their names, numbers to the right."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(line[index]) for line in [list(columns), *cells]) for index in range(len(columns))]
    numeric = [all(isinstance(row[index], int | float) for row in rows) for index in range(len(columns))]
    lines = [[*columns], ["-" * width for width in widths], *cells]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in lines
    )


def _cell(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode(errors="backslashreplace")
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)
