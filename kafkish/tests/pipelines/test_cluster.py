"""The same pipeline file on a standalone Spark cluster gives what it gives on one machine."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafkish.pipelines import submit
from kafkish.pipelines.reading import read_pipeline
from kafkish.pipelines.run import run_with
from kafkish.pipelines.session import packages
from kafkish.tests.pipelines.spark_cluster import SPARK_HOME, standalone_cluster
from kafkish.tests.pipelines.topics import DAY_MS, Record, Topics

pytestmark = pytest.mark.spark

STEP = """
from pyspark.sql import functions as F

@F.udf("long")
def doubled(number):
    return number * 2

def double(rows):
    return rows.withColumn("cents", doubled("cents"))
"""
SMALL = ("--conf", "spark.executor.memory=512m", "--conf", "spark.sql.shuffle.partitions=2")


def write_pipeline(directory: Path, topic: str) -> Path:
    directory.mkdir()
    (directory / "steps.py").write_text(STEP)
    path = directory / "job.yaml"
    path.write_text(f"""
name: job
sources:
  - {{name: orders, topics: {topic}, decode: {{format: json, schema: "cents BIGINT, at TIMESTAMP"}}}}
  - {{name: all, topics: {topic}, batch_records: 1500}}
steps:
  - {{name: doubled, python: "steps.py:double", inputs: orders}}
  - {{name: sums, aggregate: doubled, time: at, window: 10 minutes, values: {{n: count(*), cents: sum(cents)}}}}
sinks:
  - {{from: sums, files: sums, mode: complete}}
  - {{from: all, archive: archive}}
verify: [{{topic: {topic}, against: {{archive: archive}}}}]
""")
    return path


@pytest.mark.slow
@pytest.mark.timeout(900)  # three Sparks beside each other
def test_a_cluster_gives_what_one_machine_gives(spark: SparkSession, topics: Topics, tmp_path: Path) -> None:
    """Once by the command, and once by spark-submit."""
    topic = topics.make("clustered", 3)
    topics.write(topic, (order(n) for n in range(3_000)))
    local = write_pipeline(tmp_path / "local", topic)
    assert run_with(spark, read_pipeline(local), topics.address)
    with standalone_cluster(tmp_path) as master:
        ours = [sys.executable, "-m", "kafkish.cli.main", "pipeline", "run", "--master", master, *SMALL]
        spark_submit = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", master, *SMALL]
        theirs = [*spark_submit, "--packages", packages(), submit.__file__]
        for name, command in {"command": ours, "submitted": theirs}.items():
            path = write_pipeline(tmp_path / name, topic)
            finish([*command, str(path), "--bootstrap", topics.address], path.with_name("log"))
            for output in ("sums", "archive"):
                here, there = (spark.read.parquet(str(file.with_name(output))) for file in (path, local))
                assert here.exceptAll(there).count() == there.exceptAll(here).count() == 0
            assert there.count() == 3_000
    for worker in range(2):
        assert len(list(tmp_path.glob(f"work-{worker}/app-*/*/stderr"))) == 2, "each worker ran each job"


def order(number: int) -> Record:
    at = f"2024-05-01T12:{number // 60:02d}:{number % 60:02d}Z"
    return Record(json.dumps({"cents": number, "at": at}).encode(), timestamp_ms=DAY_MS + number)


def finish(command: list[str], log: Path) -> None:
    """Wait for the end; a failure shows the log."""
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    with log.open("wb") as file:
        code = subprocess.run(command, stdout=file, stderr=file, env=environment, check=False, timeout=280).returncode
    assert code == 0, log.read_text()[-3_000:]
