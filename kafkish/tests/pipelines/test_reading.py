"""A pipeline file is checked before Spark starts; an error names the line and the field."""

from pathlib import Path

import pytest

from kafkish.cli.main import main
from kafkish.pipelines.errors import PipelineError
from kafkish.pipelines.model import EARLIEST, LATEST, JoinStep, Moment, Offsets, TopicSink, TopicSource
from kafkish.pipelines.reading import read_pipeline
from kafkish.tests.pipelines.conftest import Read

EXAMPLE = Path(__file__).parents[3] / "examples" / "orders" / "orders.yaml"

GOOD = """
name: orders
sources:
  - name: orders
    topics: [orders, more]
    decode: {format: json, schema: "id STRING NOT NULL"}
sinks:
  - from: orders
    topic: out
    key: id
"""

WRONG = {
    "name: a\nsinks: [": r"line 2: not YAML: ",
    "name: a": r"line 1: nothing to do: give sinks, or verify",
    GOOD.replace("topics:", "topcs:"): r"line 4, sources\[0\]: needs one of topics, pattern, files, archive",
    GOOD.replace("decode:", "decod:"): r"line 6, sources\[0\].decod: unknown field; did you mean decode\?",
    GOOD.replace(
        "STRING", "STRNG"
    ): r"line 6, sources\[0\].decode.schema: id: STRNG is not a type; did you mean STRING",
    GOOD.replace("format: json", "format: xml"): r"line 6, sources\[0\].decode.format: 'xml' is not one of",
    GOOD.replace(
        "from: orders", "from: order"
    ): r"line 9, sinks\[0\].topic: no source or step is called order; did you",
    GOOD.replace("topic: out", "topic: 'out!'"): r"line 9, sinks\[0\].topic: 'out!' is not a topic's name",
    GOOD.replace("key: id", "topic: id"): r"line 10, sinks\[0\].topic: given twice; first in line 9",
    GOOD.replace("key: id", "archive: x"): r"line 10, sinks\[0\].archive: cannot stand beside topic: choose one",
    GOOD.replace("topic: out", "archive: x").replace(
        "    key: id\n", ""
    ): r"line 9, .*must be a source of topics with decode: raw",
    GOOD.replace(
        "key: id", "partitions: 0"
    ): r"line 10, sinks\[0\].partitions: '0' is not a whole number of at least 1",
    GOOD.replace("key: id", "bootstrap: here"): r"line 10, sinks\[0\].bootstrap: 'here' is not HOST:PORT",
    GOOD + "steps: [{name: s, aggregate: orders, time: at, window: soon, values: {n: count(*)}}]": (
        r"line 11, steps\[0\].window: 'soon' is not a duration"
    ),
    GOOD + "steps: [{name: s, python: no.py:f, inputs: orders}]": r"line 11, steps\[0\].python: .*no.py cannot be read",
    GOOD + "checkpoint: ${KAFKISH_NO_SUCH}/x": r"line 11, checkpoint: the environment has no variable KAFKISH_NO_SUCH",
    GOOD.replace("decode:", "options: {startingOffsets: latest}\n    decode:"): r"line 6, .*: use the field `from`",
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_an_error_names_line_and_field(read: Read, text: str) -> None:
    with pytest.raises(PipelineError, match=WRONG[text]) as told:
        read(text)
    assert "pipeline.yaml" in str(told.value)


def test_positions_are_edges_moments_or_offsets(read: Read) -> None:
    text = GOOD.replace("decode:", "from: 2024-05-01T12:00:00Z\n    to: latest\n    decode:")
    source = read(text).sources[0]
    assert isinstance(source, TopicSource)
    assert (source.start, source.end) == (Moment(1_714_564_800_000), LATEST)
    source = read(GOOD.replace("decode:", "from: {orders: {0: 5}, more: {0: 0}}\n    decode:")).sources[0]
    assert isinstance(source, TopicSource)
    assert source.start == Offsets({"orders": {0: 5}, "more": {0: 0}})
    assert isinstance(plain := read(GOOD).sources[0], TopicSource)
    assert (plain.start, plain.end) == (EARLIEST, None)


def test_the_environment_fills_in_variables(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKISH_OUT", "elsewhere")
    sink = read(GOOD.replace("topic: out", "topic: ${KAFKISH_OUT}")).sinks[0]
    assert isinstance(sink, TopicSink)
    assert sink.topic == "elsewhere"


def test_a_huge_file_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    path.write_bytes(b"#" * (1 << 21))
    with pytest.raises(PipelineError, match="longer than 1,048,576 bytes"):
        read_pipeline(path)


def test_the_example_is_good() -> None:
    pipeline = read_pipeline(EXAMPLE)
    assert [type(step) for step in pipeline.steps][1] is JoinStep
    assert len(pipeline.all_sinks) == 5


def test_a_dry_run_says_what_would_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", "run", str(EXAMPLE), "--dry-run"]) == 0
    shown = capsys.readouterr().out
    for part in ("topics orders from earliest", "per 30 minutes", "archive ", "bad records to parquet files"):
        assert part in shown


def test_the_command_tells_an_error_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.yaml"
    path.write_text("name: p\nsinks: [{from: x, prnt: 5}]")
    assert main(["pipeline", "run", str(path)]) == 2
    assert capsys.readouterr().err == (
        f"kafkish pipeline: {path} line 2, sinks[0]: needs one of files, topic, archive, backfill, mirror, print\n"
    )
