"""verify: what is wrong with a range of a topic, found in one pass and told in text and JSON."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from kafkish.pipelines.errors import Where
from kafkish.pipelines.jobs.verify import examine
from kafkish.pipelines.model import Check, Side
from kafkish.pipelines.report import Report, make_report
from kafkish.tests.pipelines.conftest import Run
from kafkish.tests.pipelines.test_archive import RECORDS
from kafkish.tests.pipelines.topics import Record, Topics

pytestmark = pytest.mark.spark

AT = datetime(2024, 5, 1, tzinfo=UTC)
SEQUENCE = "CAST(value AS STRING)"


def records(spark: SparkSession, *rows: tuple[int, int, bytes, bytes]) -> DataFrame:
    """(partition, offset, key, value)."""
    full = [("t", partition, offset, AT, key, value, None) for partition, offset, key, value in rows]
    return spark.createDataFrame(full, RECORDS)


def report(
    subject: DataFrame, other: DataFrame | None = None, sequence: str = "", ends: tuple[int, int] = (0, 3)
) -> Report:
    where = Where("f", 1, "")
    against = Side(where, "t") if other is not None else None
    check = Check("c", where, Side(where, "t"), against, sequence=sequence)
    rows: list[dict[str, Any]] = [row.asDict() for row in examine(subject, other, "key", sequence).collect()]
    return make_report(check, rows, {"t": {0: ends[0]}}, {"t": {0: ends[1]}})


def test_a_whole_copy_is_good(spark: SparkSession) -> None:
    rows = [(0, n, b"k", b"%d" % n) for n in range(3)]
    found = report(records(spark, *rows), records(spark, *reversed(rows)), SEQUENCE)
    assert (found.good, found.records) == (True, 3)
    assert found.partitions[0].hash == found.partitions[0].hash_there != f"{0:016x}"


def test_every_difference_from_a_copy_is_counted(spark: SparkSession) -> None:
    subject = records(spark, (0, 0, b"k", b"a"), (0, 1, b"k", b"b"))
    copy = records(spark, (0, 0, b"k", b"A"), (0, 2, b"k", b"c"), (0, 2, b"k", b"c"))
    found = report(subject, copy)
    troubles = {name: count for name, count in found.partitions[0].troubles.items() if count}
    assert troubles == {"gaps": 1, "duplicates_there": 1, "only_here": 1, "only_there": 1, "different": 1}
    assert dict(found.partitions[0].first) == {"duplicates_there": 2, "only_here": 1, "only_there": 2, "different": 0}
    assert "BAD: 2 records" in found.as_text()


def test_gaps_duplicates_and_disorder_are_found(spark: SparkSession) -> None:
    rows = [(0, 0, b"k", b"1"), (0, 2, b"k", b"3"), (0, 2, b"k", b"3"), (0, 3, b"k", b"2"), (1, 0, b"k", b"4")]
    found = report(records(spark, *rows, (0, 4, b"other", b"x")), sequence=SEQUENCE, ends=(0, 6))
    troubles = {name: found.trouble(name) for name in ("gaps", "duplicates", "repeated", "disordered", "strayed")}
    assert troubles == {"gaps": 2, "duplicates": 1, "repeated": 1, "disordered": 1, "strayed": 1}


def test_an_empty_partition_that_should_not_be_is_a_gap(spark: SparkSession) -> None:
    found = report(records(spark), ends=(5, 8))
    assert (found.trouble("gaps"), found.good) == (3, False)


def test_a_bad_topic_is_told_in_text_and_json(
    topics: Topics, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = topics.make("checked", 2)
    topics.write(topic, [Record(b"%d" % n, b"k", partition=0) for n in (1, 2, 5, 4, 5)])
    text = f"name: check\nverify: [{{topic: {topic}, sequence: '{SEQUENCE}', report: report.json}}]"
    assert not run(text)
    shown = capsys.readouterr().out
    assert f"1 sequence numbers repeated for their key; the first is {topic}-0 offset 4" in shown
    assert f"1 out of order for their key; the first is {topic}-0 offset 3" in shown
    told = json.loads((tmp_path / "report.json").read_text())
    assert (told["good"], told["records"], told["repeated"], told["disordered"], told["gaps"]) == (False, 5, 1, 1, 0)


def test_a_range_of_a_topic_is_checked_alone(topics: Topics, run: Run) -> None:
    topic = topics.make("ranged", 1)
    topics.write(topic, [Record(b"%d" % n, b"k") for n in (9, 1, 2, 3, 0)])
    text = "name: check\nverify: [{{topic: {0}, sequence: '{1}', from: {{{0}: {{0: 1}}}}, to: {{{0}: {{0: 4}}}}}}]"
    assert run(text.format(topic, SEQUENCE))
