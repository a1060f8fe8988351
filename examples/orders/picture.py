"""The picture of a day: revenue per half hour, by country."""

from pathlib import Path

import matplotlib
import shop

matplotlib.use("Agg")

from matplotlib import pyplot  # after the backend is chosen


def draw(figures: shop.Figures, path: Path) -> None:
    """Write a PNG."""
    starts = sorted({start for start, _ in figures.revenue_cents})
    hours = [(start - shop.FIRST_MS) / 3_600_000 for start in starts]
    figure, axes = pyplot.subplots(figsize=(9, 4.2), dpi=120, layout="constrained")
    bottom = [0.0] * len(starts)
    for country, colour in zip(shop.COUNTRIES, ("#1f4e79", "#2e86ab", "#7fb7be", "#d9b44a", "#c8553d"), strict=True):
        heights = [figures.revenue_cents[start, country] / 100_000 for start in starts]
        axes.bar(hours, heights, 0.46, bottom, align="edge", label=country, color=colour)
        bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    axes.set(title="Revenue per half hour", xlabel="hour of the day (UTC)", ylabel="thousand euros", xlim=(0, 24))
    axes.set_xticks(range(0, 25, 3))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, ncols=len(shop.COUNTRIES), loc="upper left")
    figure.savefig(path)
    print(f"drew {path}")
