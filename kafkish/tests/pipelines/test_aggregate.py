"""aggregate: values per window, tumbling and sliding, with a watermark."""

import json
from datetime import UTC, datetime

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from kafkish.pipelines.errors import Where
from kafkish.pipelines.jobs.aggregate import aggregate
from kafkish.pipelines.model import AggregateStep
from kafkish.tests.pipelines.conftest import Run
from kafkish.tests.pipelines.topics import Record, Topics

pytestmark = pytest.mark.spark

ROWS = [
    ("DE", 5, datetime(2024, 5, 1, 12, 1, tzinfo=UTC)),
    ("DE", 7, datetime(2024, 5, 1, 12, 9, 59, tzinfo=UTC)),
    ("FR", 1, datetime(2024, 5, 1, 12, 10, tzinfo=UTC)),
]


def step(window: str, slide: str = "") -> AggregateStep:
    values = {"orders": "count(*)", "cents": "sum(cents)"}
    return AggregateStep("a", Where("f", 1, ""), "rows", "at", window, values, slide, "1 minute", ("country",))


def sums(spark: SparkSession, step: AggregateStep) -> dict[tuple[str, str], tuple[int, int]]:
    rows = aggregate(spark.createDataFrame(ROWS, "country string, cents long, at timestamp"), step)
    assert rows.columns == ["window_start", "window_end", "country", "orders", "cents"]
    named = rows.withColumn("start", F.date_format("window_start", "HH:mm"))
    return {(row.start, row.country): (row.orders, row.cents) for row in named.collect()}


def test_tumbling_windows_hold_each_row_once(spark: SparkSession) -> None:
    assert sums(spark, step("10 minutes")) == {("12:00", "DE"): (2, 12), ("12:10", "FR"): (1, 1)}


def test_sliding_windows_hold_a_row_in_each_that_covers_it(spark: SparkSession) -> None:
    assert sums(spark, step("10 minutes", "5 minutes")) == {
        ("11:55", "DE"): (1, 5),
        ("12:00", "DE"): (2, 12),
        ("12:05", "DE"): (1, 7),
        ("12:05", "FR"): (1, 1),
        ("12:10", "FR"): (1, 1),
    }


def test_windows_are_written_when_the_watermark_has_passed(topics: Topics, run: Run) -> None:
    orders, revenue = topics.make("orders"), topics.make("revenue", 1)
    moments = ["12:00:00", "12:04:00", "12:06:00", "12:30:00"]
    topics.write(
        orders,
        (Record(json.dumps({"cents": 10, "at": f"2024-05-01T{moment}Z"}).encode()) for moment in moments),
    )
    assert run(f"""
name: revenue
sources:
  - name: orders
    topics: {orders}
    decode: {{format: json, schema: "cents BIGINT NOT NULL, at TIMESTAMP NOT NULL"}}
steps:
  - name: revenue
    aggregate: orders
    time: at
    window: 5 minutes
    watermark: 10 minutes
    values: {{cents: sum(cents)}}
sinks:
  - {{from: revenue, topic: {revenue}, key: CAST(window_start AS STRING), id: window_start}}
""")
    found = {record.key.decode(): json.loads(record.value)["cents"] for record in topics.read(revenue)}
    assert found == {"2024-05-01 12:00:00": 20, "2024-05-01 12:05:00": 10}  # that of 12:30 may still grow
