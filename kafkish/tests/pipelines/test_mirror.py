"""mirror and the headers that say where a record came from."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import apache_kafka
import pytest
from pyspark.sql import SparkSession

from kafkish.pipelines.coordinates import COLUMNS, deduplicated, restored
from kafkish.pipelines.embedded import start_embedded_broker
from kafkish.pipelines.errors import PipelineError
from kafkish.pipelines.jobs.mirror import mirror_rows
from kafkish.pipelines.run import run_with
from kafkish.tests.pipelines.conftest import Read, Run
from kafkish.tests.pipelines.test_archive import RECORDS
from kafkish.tests.pipelines.topics import DAY_MS, Record, Topics

pytestmark = pytest.mark.spark

AT = datetime(2024, 5, 1, 12, tzinfo=UTC)
ORIGINALS = [
    ("t", 1, 7, AT, b"k", b"v", [("own", b"1"), ("kafkish-source", b"other/0/3/5")]),
    ("t", 0, 8, AT, None, None, None),
]


def test_copies_can_be_restored(spark: SparkSession) -> None:
    """A record that is itself a copy keeps the header that it had."""
    originals = spark.createDataFrame(ORIGINALS, RECORDS)
    copies = mirror_rows(originals, "copy.").selectExpr("*", "99L AS offset", "now() AS timestamp")
    assert {(row.topic, row.partition) for row in copies.collect()} == {("copy.t", 1), ("copy.t", 0)}
    back = restored(copies.select(*COLUMNS))
    assert sorted(back.collect(), key=lambda row: row.offset) == originals.collect()


def test_a_record_that_was_written_twice_is_read_once(spark: SparkSession) -> None:
    copies = mirror_rows(spark.createDataFrame(ORIGINALS, RECORDS), "").selectExpr(
        "*", "5L AS offset", "now() AS timestamp"
    )
    own = spark.createDataFrame([("t", 0, n, AT, None, b"same", None) for n in (1, 2)], RECORDS)
    twice = copies.union(copies).select(*COLUMNS).union(own)
    assert deduplicated(twice, "1 hour").count() == 4  # two copies; and two records that nobody named


@contextmanager
def apache(directory: Path) -> Iterator[str]:
    """The address of an Apache Kafka."""
    directory.mkdir()
    with apache_kafka.ApacheKafka(directory) as kafka:
        kafka.wait_until_ready()
        yield kafka.address


@pytest.fixture(params=[start_embedded_broker, apache], ids=["kafkish", "Apache Kafka"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Topics]:
    """The topics of another cluster."""
    with request.param(tmp_path / "other") as address:
        yield Topics(address)


@pytest.mark.kafka
def test_a_topic_goes_to_another_cluster_and_back(
    spark: SparkSession, topics: Topics, run: Run, read: Read, other: Topics
) -> None:
    topic = topics.make("mirrored")
    topics.write(topic, (Record(b"%d" % n, b"k%d" % (n % 5), None, DAY_MS + n, [("h", b"x")]) for n in range(300)))
    assert run(f"""
name: there
checkpoint: there
sources: [{{name: all, topics: {topic}}}]
sinks: [{{from: all, mirror: "{other.address}"}}]
verify: [{{topic: {topic}, against: {{bootstrap: "{other.address}", coordinates: source}}}}]
""")
    assert len(other.read(topic)) == 300
    back = read(f"""
name: back
checkpoint: back
sources: [{{name: all, topics: {topic}, bootstrap: "{other.address}"}}]
sinks: [{{from: all, mirror: default, prefix: back.}}]
""")
    assert run_with(spark, back, topics.address)
    places = [record.headers["kafkish-source"].decode() for record in topics.read(f"back.{topic}")]
    assert sorted(place.rpartition("/")[0] for place in places) == sorted(
        f"{topic}/{record.partition}/{record.offset}" for record in topics.read(topic)
    )


def test_a_mirror_onto_itself_is_refused(topics: Topics, run: Run) -> None:
    topic = topics.make("loop")
    with pytest.raises(PipelineError, match="the same cluster: the mirror would read what it writes"):
        run(f"name: loop\nsources: [{{name: all, topics: {topic}}}]\nsinks: [{{from: all, mirror: default}}]")


def test_a_job_that_writes_a_batch_again_gives_its_reader_each_row_once(
    spark: SparkSession, topics: Topics, run: Run, read: Read, tmp_path: Path
) -> None:
    """Exactly once into a topic: a name for each record, in a header, and a reader that drops what it has seen."""
    source, target = topics.make("source", 1), topics.make("target", 1)
    topics.write(source, (Record(b"%d" % n) for n in range(20)))
    writer = f"""
name: writer
checkpoint: writer
sources: [{{name: all, topics: {source}, decode: string}}]
sinks: [{{name: out, from: all, topic: {target}, value: string, id: value}}]
"""
    assert run(writer)
    for commit in (tmp_path / "writer" / "out" / "commits").iterdir():
        commit.unlink()  # as if the run was killed after it wrote, before it remembered that
    assert run(writer)
    assert len(topics.read(target)) == 40
    assert run(f"""
name: reader
checkpoint: reader
sources: [{{name: all, topics: {target}, decode: string, deduplicate: 1 hour}}]
sinks: [{{from: all, files: out, format: json}}]
""")
    found = spark.read.json(str(tmp_path / "out")).collect()
    assert sorted(int(row.value) for row in found) == list(range(20))
