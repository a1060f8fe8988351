"""What a person gets wrong ends in one message that says what to do, and nothing is lost."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafkish.cli.main import main
from kafkish.pipelines import requirements
from kafkish.pipelines.errors import PipelineError
from kafkish.tests.pipelines.conftest import Run
from kafkish.tests.pipelines.topics import Record, Topics

ARCHIVE = """
name: {name}
checkpoint: checkpoint
sources: [{{name: all, topics: {topic}}}]
sinks: [{{from: all, archive: out}}]
"""
JSON = """
name: json
sources: [{{name: rows, topics: {topic}, decode: {{format: json, schema: {schema}}}}}]
sinks: [{{from: rows, files: out}}]
"""


# -- before Spark starts


def test_missing_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    file = tmp_path / "p.yaml"
    file.write_text(ARCHIVE.format(name="p", topic="t"))
    assert main(["pipeline", "run", str(file)]) == 2
    assert capsys.readouterr().err == (
        "kafkish pipeline: no Java found, neither in JAVA_HOME nor in PATH. Spark needs Java 17 or newer; "
        "install it (Debian: apt install openjdk-17-jre-headless).\n"
    )


def test_old_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(PipelineError, match=r"is Java 11\. Spark needs Java 17 or newer"):
        requirements.require_spark()


@pytest.mark.spark
def test_unreachable_broker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(ARCHIVE.format(name="p", topic="t"))
    assert main(["pipeline", "run", str(file), "--bootstrap", "127.0.0.1:1"]) == 2
    told = capsys.readouterr().err
    assert "p.yaml line 4, sources[0].topics: no broker answers (127.0.0.1:1: Connection refused)" in told
    assert len(told.splitlines()) == 1
    assert not (tmp_path / "checkpoint").exists()


# -- before anything is written


@pytest.mark.spark
def test_unknown_topic(topics: Topics, run: Run, tmp_path: Path) -> None:
    topic = topics.make("known")
    with pytest.raises(
        PipelineError, match=rf"line 4, sources\[0\].topics: there is no topic {topic}x on .*did you mean {topic}"
    ):
        run(ARCHIVE.format(name="p", topic=f"{topic}x"))
    assert not (tmp_path / "checkpoint").exists()


@pytest.mark.spark
def test_offsets_that_are_not_there(topics: Topics, run: Run) -> None:
    topic = topics.make("short", 1)
    text = ARCHIVE.format(name="p", topic=f"{topic}, from: {{{topic}: {{0: 7}}}}")
    with pytest.raises(PipelineError, match=rf"offset 7 of {topic}, partition 0, is not in 0\.\.0"):
        run(text)


@pytest.mark.spark
def test_checkpoint_of_another_pipeline(spark: SparkSession, topics: Topics, run: Run, tmp_path: Path) -> None:
    topic = topics.make("owned")
    topics.write(topic, [Record(b"1")])
    run(ARCHIVE.format(name="first", topic=topic))
    with pytest.raises(PipelineError, match=r"belongs to the pipeline 'first', not to 'second'\. Give this pipeline"):
        run(ARCHIVE.format(name="second", topic=topic))
    with pytest.raises(PipelineError, match=r"out was filled with the checkpoint .*records would be in it twice"):
        run(ARCHIVE.format(name="first", topic=topic).replace("checkpoint: checkpoint", "checkpoint: other"))
    assert spark.read.parquet(str(tmp_path / "out")).count() == 1


@pytest.mark.spark
def test_topic_that_was_made_again(topics: Topics, run: Run) -> None:
    topic = topics.make("again", 1)
    topics.write(topic, [Record(b"1")])
    run(ARCHIVE.format(name="p", topic=topic))
    topics.remake(topic, 1)
    with pytest.raises(PipelineError, match=f"the topic {topic} was made again since the checkpoint"):
        run(ARCHIVE.format(name="p", topic=topic))


@pytest.mark.spark
def test_sql_that_names_no_column(topics: Topics, run: Run) -> None:
    topic = topics.make("rows")
    text = JSON.format(topic=topic, schema="n BIGINT") + "steps: [{name: s, sql: SELECT m FROM rows}]"
    with pytest.raises(PipelineError, match=r"line 5, steps\[0\].sql: A column, .*`m` cannot be resolved") as told:
        run(text)
    assert "SQLSTATE" not in str(told.value)


# -- while it runs


@pytest.mark.spark
def test_malformed_record_stops_the_run_and_is_there_for_the_next(
    spark: SparkSession, topics: Topics, run: Run, tmp_path: Path
) -> None:
    topic = topics.make("malformed", 1)
    topics.write(topic, [Record(b'{"n": 1}'), Record(b"{")])
    with pytest.raises(
        PipelineError, match=f"bad record: topic {topic}, partition 0, offset 1: not one JSON object"
    ) as told:
        run(JSON.format(topic=topic, schema="n BIGINT"))
    assert "Nothing was lost: give the source a `quarantine`" in str(told.value)
    assert "Caused by" not in str(told.value)
    assert run(JSON.format(topic=topic, schema="n BIGINT").replace("decode:", "quarantine: {files: bad}, decode:"))
    assert [spark.read.parquet(str(tmp_path / name)).count() for name in ("out", "bad")] == [1, 1]


@pytest.mark.spark
def test_schema_that_does_not_fit(topics: Topics, run: Run) -> None:
    topic = topics.make("misfit", 1)
    topics.write(topic, [Record(b'{"n": "one"}')])
    with pytest.raises(PipelineError, match=f"topic {topic}, partition 0, offset 0: n: one is not BIGINT"):
        run(JSON.format(topic=topic, schema="n BIGINT"))


@pytest.mark.spark
def test_state_of_other_steps(topics: Topics, run: Run) -> None:
    """The same sink with another aggregate cannot go on from the old one's state."""
    topic = topics.make("state", 1)
    text = JSON.replace("from: rows", "from: s").format(topic=topic, schema='"n BIGINT, at TIMESTAMP"')
    text += "steps: [{name: s, aggregate: rows, time: at, window: 1 minute, watermark: 1 minute, values: {VALUES}}]"
    topics.write(topic, [Record(b'{"n": 1, "at": "2024-05-01T00:00:00Z"}')])
    run(text.replace("VALUES", "n: count(*)"))
    topics.write(topic, [Record(b'{"n": 1, "at": "2024-05-01T00:10:00Z"}')])
    with pytest.raises(PipelineError, match="the checkpoint holds the state of other steps"):
        run(text.replace("VALUES", "n: count(*), most: max(n), text: max(CAST(n AS STRING))"))
