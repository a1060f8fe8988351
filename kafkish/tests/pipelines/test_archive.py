"""archive: topics as Parquet, each record once with all that it is."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafkish.pipelines.coordinates import HEADERS_TYPE
from kafkish.pipelines.files import Listed
from kafkish.pipelines.jobs.archive import archive_names, archive_rows
from kafkish.tests.pipelines.conftest import Run
from kafkish.tests.pipelines.topics import DAY_MS, Record, Topics

pytestmark = pytest.mark.spark

RECORDS = (
    f"topic string, partition int, offset long, timestamp timestamp, key binary, value binary, headers {HEADERS_TYPE}"
)
LATE = datetime(2024, 5, 1, 23, 59, 59, 999_000, tzinfo=UTC)
EARLY = datetime(2024, 5, 2, tzinfo=UTC)
DAY = 86_400_000


def pipeline(topic: str) -> str:
    return f"""
name: keep
sources: [{{name: all, topics: {topic}, batch_records: 50}}]
sinks: [{{from: all, archive: out}}]
verify: [{{topic: {topic}, against: {{archive: out}}, report: report.json}}]
"""


def test_rows_are_dated_in_utc_and_lie_in_the_order_of_offsets(spark: SparkSession) -> None:
    records = [("t", 0, 2, EARLY, b"k", b"v", None), ("t", 0, 1, LATE, None, None, [("h", b"x"), ("h", None)])]
    rows = archive_rows(spark.createDataFrame(records, RECORDS).coalesce(1)).collect()
    assert [(row.offset, row.date) for row in rows] == [(1, date(2024, 5, 1)), (2, date(2024, 5, 2))]
    assert [tuple(header) for header in rows[0].headers] == [("h", bytearray(b"x")), ("h", None)]
    assert (rows[0].key, rows[0].value, rows[1].key) == (None, None, bytearray(b"k"))


def test_names_of_files_do_not_depend_on_the_attempt() -> None:
    below = "topic=t/date=2024-05-01/in_partition=3/part-0000{}-{}.c000.snappy.parquet"
    first, again = ([Listed(f"/s/{n}", below.format(n, run)) for n in (0, 1)] for run in ("aa", "bb"))
    assert list(archive_names(first, 12).values()) == list(archive_names(again, 12).values())
    assert archive_names(first, 12)["/s/1"] == (
        "topic=t/date=2024-05-01/partition-00003-batch-00000012-01.snappy.parquet"
    )


def test_a_topic_and_what_comes_later_is_archived_once(
    spark: SparkSession, topics: Topics, run: Run, tmp_path: Path
) -> None:
    topic = topics.make("archived", partitions=3)
    headers: list[tuple[str, str | bytes | None]] = [("trace", b"\x00\xff"), ("empty", None)]
    topics.write(topic, (Record(b"%d" % n, b"k%d" % (n % 7), None, DAY_MS + n * 900_000, headers) for n in range(120)))
    topics.write(topic, [Record(None, b"tombstone"), Record(b"", b"")])
    assert run(pipeline(topic))
    topics.write(topic, [Record(b"later", b"k")])
    assert run(pipeline(topic))  # verify compares every record with the topic
    found = spark.read.parquet(str(tmp_path / "out"))
    assert found.count() == 123
    assert found.where("value = 'later'").count() == 1
    assert [path.name for path in sorted((tmp_path / "out" / f"topic={topic}").iterdir())] == [
        "date=2024-05-01",
        "date=2024-05-02",
    ]
    assert not list(tmp_path.glob(".out.staging"))
