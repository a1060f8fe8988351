"""join: stream with stream by watermarks, and stream with a table that does not grow."""

import json
from datetime import datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafkish.pipelines.errors import PipelineError, Where
from kafkish.pipelines.jobs.join import join
from kafkish.pipelines.model import JoinStep
from kafkish.tests.pipelines.conftest import Run
from kafkish.tests.pipelines.topics import Record, Topics

pytestmark = pytest.mark.spark

SCHEMA = "id string, at timestamp, note string"
STEP = JoinStep("j", Where("f.yaml", 3, "steps[0].join"), "orders", "payments", ("id",), "left")
TIMED = JoinStep(
    "j", STEP.where, "orders", "payments", ("id",), "left", "at", "at", "1 minute", "30 minutes", "5 minutes"
)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(f"2024-05-01T{text}")


def test_rows_meet_when_their_times_lie_near(spark: SparkSession) -> None:
    orders = [(name, moment("12:00:00"), "order") for name in ("early", "in time", "late", "never")]
    paid = {"early": "11:58:59", "in time": "11:59:00", "late": "12:30:01"}
    payments = [(name, moment(at), "paid") for name, at in paid.items()]
    rows = join(spark.createDataFrame(orders, SCHEMA), spark.createDataFrame(payments, SCHEMA), TIMED)
    assert rows.columns == ["id", "at", "note", "payments_at", "payments_note"]
    assert {row.id: row.payments_note for row in rows.collect()} == {
        "early": None,
        "in time": "paid",
        "late": None,
        "never": None,
    }


def test_two_streams_without_times_are_refused(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().selectExpr("CAST(value AS STRING) AS id", "timestamp AS at")
    with pytest.raises(PipelineError, match=r"f.yaml line 3, steps\[0\].join: two streams: give `time` and `between`"):
        join(stream, stream, STEP)


def test_streams_and_a_table_are_joined(topics: Topics, run: Run, tmp_path: Path) -> None:
    """Unpaid orders with the name of their country: stream with stream, then with a table."""
    orders, payments, unpaid = topics.make("orders"), topics.make("payments"), topics.make("unpaid", 1)
    (tmp_path / "countries.csv").write_text("country,label\nDE,Germany\nFR,France\n")
    ordered = [("a", "DE", "12:00:00"), ("b", "FR", "12:05:00"), ("c", "DE", "14:00:00")]
    paid = [("a", "12:10:00"), ("b", "12:40:00"), ("c", "14:00:00")]
    topics.write(orders, (_json(id=name, country=country, at=at) for name, country, at in ordered))
    topics.write(payments, (_json(id=name, at=at) for name, at in paid))
    assert run(f"""
name: unpaid
sources:
  - name: orders
    topics: {orders}
    decode: {{format: json, schema: "id STRING NOT NULL, country STRING, at TIMESTAMP NOT NULL"}}
  - {{name: payments, topics: {payments}, decode: {{format: json, schema: "id STRING, at TIMESTAMP"}}}}
  - {{name: countries, files: countries.csv, format: csv, schema: "country STRING, label STRING"}}
steps:
  - name: matched
    join: {{left: orders, right: payments}}
    on: id
    how: left
    time: {{left: at, right: at}}
    between: [0 minutes, 30 minutes]
    watermark: 10 minutes
  - {{name: named, join: {{left: matched, right: countries}}, on: country, how: left}}
  - {{name: unpaid, sql: "SELECT id, label FROM named WHERE payments_at IS NULL"}}
sinks:
  - {{from: unpaid, topic: {unpaid}, key: id, id: id}}
""")
    assert [json.loads(value) for value in topics.values(unpaid)] == [{"id": "b", "label": "France"}]


def _json(**fields: str) -> Record:
    return Record(json.dumps({**fields, "at": f"2024-05-01T{fields['at']}Z"}).encode())
