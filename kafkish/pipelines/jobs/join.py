"""join: two streams whose times lie near each other, or a stream and a table that does not grow."""

from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kafkish.pipelines.model import JoinStep


def join(left: DataFrame, right: DataFrame, step: JoinStep) -> DataFrame:
    """Left columns, then right ones. A right column whose name the left has too gets its table's name before it."""
    if left.isStreaming and right.isStreaming and not step.left_time:
        raise step.where.error("two streams: give `time` and `between`, or rows would have to be kept for ever")
    if step.watermark and step.left_time:
        left = left.withWatermark(step.left_time, step.watermark)
        right = right.withWatermark(step.right_time, step.watermark)
    joined = left.alias("l").join(right.alias("r"), _condition(step), step.how)
    return joined.select(*_columns(left, right, step))


def _condition(step: JoinStep) -> Column:
    equal = [F.col(f"l.{name}") == F.col(f"r.{name}") for name in step.on]
    if step.left_time:
        before, after = (F.expr(f"INTERVAL {duration}") for duration in (step.earliest, step.latest))
        left_time, right_time = F.col(f"l.{step.left_time}"), F.col(f"r.{step.right_time}")
        equal += [right_time >= left_time - before, right_time <= left_time + after]
    return reduce(and_, equal)


def _columns(left: DataFrame, right: DataFrame, step: JoinStep) -> list[Column]:
    keys = [F.coalesce(f"l.{name}", f"r.{name}").alias(name) for name in step.on]
    lefts = [F.col(f"l.{name}") for name in left.columns if name not in step.on]
    rights = [
        F.col(f"r.{name}").alias(f"{step.right}_{name}" if name in left.columns else name)
        for name in right.columns
        if name not in step.on
    ]
    return [*keys, *lefts, *rights]
