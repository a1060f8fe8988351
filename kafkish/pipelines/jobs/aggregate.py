"""aggregate: values per window of time, tumbling or sliding, with a watermark."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kafkish.pipelines.model import AggregateStep


def aggregate(rows: DataFrame, step: AggregateStep) -> DataFrame:
    """One row for each window and group: `window_start`, `window_end`, the groups, the values."""
    if step.watermark:
        rows = rows.withWatermark(step.time, step.watermark)
    windows = F.window(step.time, step.window, step.slide or step.window)
    values = [F.expr(expression).alias(name) for name, expression in step.values.items()]
    return (
        rows.groupBy(windows.alias("window"), *step.by)
        .agg(*values)
        .select(
            F.col("window.start").alias("window_start"),
            F.col("window.end").alias("window_end"),
            *step.by,
            *step.values,
        )
    )
