"""backfill: an archive into a topic again, in order, at a rate, from where it stopped."""

from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pytest
from pyspark.sql import SparkSession

from kafkish.pipelines.errors import Where
from kafkish.pipelines.files import Files
from kafkish.pipelines.jobs.backfill import Backfill, Span, backfill_rows, slices
from kafkish.pipelines.model import ArchiveSource, BackfillSink
from kafkish.tests.pipelines.conftest import Run
from kafkish.tests.pipelines.test_archive import RECORDS
from kafkish.tests.pipelines.topics import Record, Topics

pytestmark = pytest.mark.spark

WHERE = Where("f", 1, "")
SPANS = [
    Span("a", ("t", 0), 0, 99),
    Span("b", ("t", 0), 100, 199),
    Span("c", ("t", 1), 0, 49),
]


def test_slices_cover_every_offset_once_and_advance_all_partitions() -> None:
    cut = list(slices(SPANS, {}, 50))
    covered = [
        (place, offset) for piece in cut for place, (low, high) in piece.ranges.items() for offset in range(low, high)
    ]
    assert len(covered) == len(set(covered)) == 250
    assert all(set(piece.ranges) == {("t", 0), ("t", 1)} for piece in cut)
    assert cut[0].paths == ("a", "c")
    assert cut[-1].paths == ("b", "c")


def test_slices_begin_where_the_last_run_stopped() -> None:
    cut = list(slices(SPANS, {("t", 0): 150, ("t", 1): 50}, 1_000))
    assert [(piece.paths, dict(piece.ranges)) for piece in cut] == [(("b",), {("t", 0): (150, 200)})]
    assert list(slices(SPANS, {("t", 0): 200, ("t", 1): 50}, 1_000)) == []


def test_rows_are_in_the_order_of_their_offsets(spark: SparkSession) -> None:
    at = datetime(2024, 5, 1, tzinfo=UTC)
    records = spark.createDataFrame([("t", 0, n, at, b"k", b"%d" % n, None) for n in (3, 1, 2)], RECORDS)
    rows = backfill_rows(records, BackfillSink("b", WHERE, "a", "again")).collect()
    assert [bytes(row.value) for row in rows] == [b"1", b"2", b"3"]
    assert {row.topic for row in rows} == {"again"}
    assert bytes(rows[0].headers[-1].value) == b"t/0/1/1714521600000"


def test_an_archive_comes_back_in_order(spark: SparkSession, topics: Topics, run: Run, tmp_path: Path) -> None:
    topic = topics.make("filled", 2)
    topics.write(topic, (Record(b"%d" % n, b"k%d" % (n % 10)) for n in range(400)))
    assert run(f"""
name: keep
checkpoint: keep
sources: [{{name: all, topics: {topic}, batch_records: 150}}]
sinks: [{{from: all, archive: archive}}]
""")
    again = f"""
name: refill
checkpoint: refill
sources: [{{name: kept, archive: archive}}]
sinks: [{{name: refill, from: kept, backfill: again-{topic}, rate_limit: 100}}]
verify: [{{topic: again-{topic}, coordinates: source, against: {{topic: {topic}}}, sequence: CAST(value AS STRING)}}]
"""
    assert run(again)
    assert run(again)  # all of it is there: nothing is written a second time
    assert topics.values(f"again-{topic}") == topics.values(topic)


def test_a_stopped_backfill_goes_on(spark: SparkSession, topics: Topics, run: Run, tmp_path: Path) -> None:
    topic, again = topics.make("stopped", 1), topics.make("again", 1)
    topics.write(topic, (Record(b"%d" % n) for n in range(100)))
    keep = f"name: keep\nsources: [{{name: all, topics: {topic}}}]\nsinks: [{{from: all, archive: archive}}]"
    assert run(keep)
    source = ArchiveSource("a", WHERE, str(tmp_path / "archive"))
    sink = BackfillSink("b", WHERE, "a", again, rate_limit=20)
    stopping = Event()
    first = Backfill(spark, Files(spark), source, sink, str(tmp_path / "state"))
    written = first.run(topics.address, stopping, lambda *_: stopping.set())
    assert 0 < written < 100
    rest = Backfill(spark, Files(spark), source, BackfillSink("b", WHERE, "a", again), str(tmp_path / "state"))
    assert rest.run(topics.address, Event(), lambda *_: None) == 100 - written
    assert topics.values(again) == topics.values(topic)
