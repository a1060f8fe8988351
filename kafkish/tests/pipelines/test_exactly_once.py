"""The archive holds each record once, whenever the job is killed. `make kill-archive` does the same at length."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafkish.pipelines.files import Files
from kafkish.pipelines.publish import Publisher, names_by_batch
from kafkish.tests.pipelines.kill_archive import archive_under_kills
from kafkish.tests.pipelines.topics import Topics

pytestmark = pytest.mark.spark


def test_a_repeated_batch_replaces_what_its_first_attempt_left(spark: SparkSession, tmp_path: Path) -> None:
    """The first attempt had two files in place, the second needs one."""
    out = str(tmp_path / "out")
    rows = spark.range(10)
    Publisher(Files(spark), out, "parquet", names_by_batch).publish(rows.repartition(2), 3)
    (tmp_path / ".out.staging" / "dead").mkdir(parents=True)
    again = Publisher(Files(spark), out, "parquet", names_by_batch)
    again.publish(rows.coalesce(1), 3)
    again.publish(rows.coalesce(1), 4)
    assert [path.name for path in sorted(Path(out).iterdir())] == [
        "batch-00000003-00000.snappy.parquet",
        "batch-00000004-00000.snappy.parquet",
    ]
    assert not (tmp_path / ".out.staging").exists()


def test_an_archive_under_kills_holds_each_record_once(
    topics: Topics, tmp_path: Path, show: Callable[[str], None]
) -> None:
    outcome = archive_under_kills(topics, tmp_path, records=20_000, kills=2, dice=random.Random(2))
    assert outcome.kills == 2
    show(str(outcome))
