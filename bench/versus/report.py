"""What was measured, as JSON, as a Markdown table and as a picture. Ratios are made within a round."""

import json
import statistics
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from bench.versus.brokers import APACHE, KAFKISH
from bench.versus.rows import LOAD_CPU, MORE_IS_BETTER, Row

RESULTS: Final = Path(__file__).resolve().parents[1] / "results"


@dataclass
class Line:
    """One figure of a row: for each broker, its values by the round; a round that failed is not there."""

    row: str
    figure: str
    aim: float | None
    values: dict[str, dict[int, float]]

    @property
    def more_is_better(self) -> bool:
        return self.figure in MORE_IS_BETTER

    @property
    def ratios(self) -> list[float]:
        """kafkish to Apache Kafka, round by round."""
        if self.figure == LOAD_CPU:
            return []  # it says nothing of a broker
        ours, theirs = self.values.get(KAFKISH, {}), self.values.get(APACHE, {})
        return sorted(ours[number] / theirs[number] for number in ours if theirs.get(number))

    @property
    def ratio(self) -> float | None:
        return statistics.median(self.ratios) if self.ratios else None

    @property
    def is_met(self) -> bool | None:
        if self.aim is None or self.ratio is None:
            return None
        return self.ratio >= self.aim if self.more_is_better else self.ratio <= self.aim


class Report:
    """Grows while the bench runs."""

    def __init__(self, about: dict[str, str]) -> None:
        self.about = about
        self.lines: dict[tuple[str, str], Line] = {}
        self.failures: list[str] = []

    def add(self, row: Row, broker: str, number: int, figures: dict[str, float]) -> None:
        for figure, value in figures.items():
            line = self.lines.setdefault((row.name, figure), Line(row.name, figure, row.aims.get(figure), {}))
            line.values.setdefault(broker, {})[number] = value

    def write(self, name: str) -> Path:
        """All three forms under bench/results/; the path of the table."""
        RESULTS.mkdir(exist_ok=True)
        lines = [{**asdict(line), "ratios": line.ratios, "met": line.is_met} for line in self.lines.values()]
        whole = {"about": self.about, "lines": lines, "failures": self.failures}
        (RESULTS / f"{name}.json").write_text(json.dumps(whole, indent=1))
        table = RESULTS / f"{name}.md"
        table.write_text(self.markdown())
        if any(line.ratios for line in self.lines.values()):
            plot(list(self.lines.values()), RESULTS / f"{name}.png")
        return table

    def markdown(self) -> str:
        judged = [line.is_met for line in self.lines.values() if line.is_met is not None]
        told = ", ".join(f"{name} {value}" for name, value in self.about.items())
        head = f"{told}. Medians of all rounds. Aims met: {sum(judged)} of {len(judged)}.\n\n"
        title = f"| row | figure | {KAFKISH} | {APACHE} | ratio | from ... to | aim |\n|---|---|--:|--:|--:|--:|---|\n"
        rows = "".join(table_row(line) for line in self.lines.values())
        failed = "".join(f"\nFailed: {failure}" for failure in self.failures)
        return head + title + rows + failed


def table_row(line: Line) -> str:
    ours, theirs = (shown(line.values.get(name)) for name in (KAFKISH, APACHE))
    ratio = f"{line.ratio:.2f}" if line.ratio is not None else ""
    spread = f"{line.ratios[0]:.2f} ... {line.ratios[-1]:.2f}" if line.ratios else ""
    aim = "" if line.aim is None else f"{'≥' if line.more_is_better else '≤'} {line.aim:.3g}"
    verdict = {True: ": met", False: ": **missed**", None: ""}[line.is_met]
    return f"| {line.row} | {line.figure} | {ours} | {theirs} | {ratio} | {spread} | {aim}{verdict} |\n"


def shown(values: dict[int, float] | None) -> str:
    if not values:
        return ""
    value = statistics.median(values.values())
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def plot(lines: list[Line], path: Path) -> None:
    """A bar for each line: how many times better than Apache Kafka, on a logarithmic scale."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawn = [line for line in lines if line.ratio][::-1]
    figure, axes = pyplot.subplots(figsize=(11, 1.5 + 0.2 * len(drawn)))
    for place, line in enumerate(drawn):
        better = [ratio if line.more_is_better else 1 / ratio for ratio in line.ratios if ratio]
        middle = statistics.median(better)
        colour = {True: "tab:green", False: "tab:red", None: "tab:gray"}[line.is_met]
        axes.barh(place, middle - 1, left=1, color=colour, height=0.7)
        axes.plot([min(better), max(better)], [place, place], color="black", linewidth=1)
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(drawn)), [f"{line.row}: {line.figure}" for line in drawn], fontsize=7)
    axes.set_ylim(-1, len(drawn))
    axes.set_xlabel(
        "times better than Apache Kafka (left of 1: worse); green meets its aim, red misses it, gray has none"
    )
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
