"""Decoders: a record that does not decode is kept with the reason."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro

from kafkish.pipelines import decode
from kafkish.pipelines.ddl import parse_schema
from kafkish.pipelines.model import Decoder
from kafkish.tests.pipelines.conftest import Run
from kafkish.tests.pipelines.test_archive import RECORDS
from kafkish.tests.pipelines.topics import Record, Topics

pytestmark = pytest.mark.spark

AT = datetime(2024, 5, 1, tzinfo=UTC)
JSON = Decoder("json", parse_schema("id STRING NOT NULL, cents BIGINT, tags ARRAY<STRING>"))
AVRO = Decoder("avro", avro_schema=json.dumps({
    "type": "record", "name": "o", "fields": [{"name": "id", "type": "string"}, {"name": "cents", "type": "long"}],
}))  # fmt: skip

REASONS = {
    b'{"id": "a", "cents": 5, "tags": ["x"], "more": 1}': None,
    b' {"id": "b"} ': None,
    b'{"id": "a", "cents": "much"}': "cents: much is not BIGINT",
    b'{"cents": 5}': "id is missing",
    b'{"id": null}': "id is missing",
    b'{"id": "a"} {"id": "b"}': "not one JSON object",
    b'[{"id": "a"}]': "not one JSON object",
    b'{"id": "a"': "not one JSON object",
    b"": "not one JSON object",
    b"\xff\xfe": "not UTF-8",
    None: "no value (a tombstone)",
}


def records(spark: SparkSession, values: Iterable[bytes | None]) -> DataFrame:
    rows = [("t", 0, offset, AT, b"k", value, None) for offset, value in enumerate(values)]
    return spark.createDataFrame(rows, RECORDS)


def reasons(decoded: DataFrame) -> list[str | None]:
    return [row[decode.REASON] for row in decoded.orderBy("offset").collect()]


def test_json_says_what_is_wrong(spark: SparkSession) -> None:
    decoded = decode.decoded(records(spark, REASONS), JSON)
    assert reasons(decoded) == list(REASONS.values())
    assert [(row.id, row.cents) for row in decode.good(decoded, "json").collect()] == [("a", 5), ("b", None)]


def test_good_and_bad_are_all(spark: SparkSession) -> None:
    decoded = decode.decoded(records(spark, REASONS), JSON)
    good, bad = decode.good(decoded, "json"), decode.bad(decoded)
    kept = {row.kafka.offset for row in good.collect()} | {row.offset for row in bad.collect()}
    assert kept == set(range(len(REASONS)))
    assert {bytes(row.value) for row in bad.collect() if row.value is not None} == {
        value for value, reason in REASONS.items() if reason and value is not None
    }


def test_avro_says_what_is_wrong(spark: SparkSession) -> None:
    table = spark.createDataFrame([("a", 5)], "id string not null, cents long not null")
    value = bytes(table.select(to_avro(F.struct("id", "cents"), AVRO.avro_schema).alias("v")).collect()[0].v)
    decoded = decode.decoded(records(spark, [value, value + b"\x00", b"\xff\xff\xff", None]), AVRO)
    assert [bool(reason) for reason in reasons(decoded)] == [False, True, True, True]
    assert [(row.id, row.cents) for row in decode.good(decoded, "avro").collect()] == [("a", 5)]


def test_avro_of_a_registry_has_five_bytes_before_it(spark: SparkSession) -> None:
    framed = Decoder("avro", avro_schema=AVRO.avro_schema, confluent=True)
    decoded = decode.decoded(records(spark, [b"\x00\x00\x00\x00\x07\x02a\x0a", b"\x02a\x0a"]), framed)
    assert reasons(decoded) == [None, "no prefix of a schema registry: a zero byte and the schema's id"]


def test_strings_must_be_utf8(spark: SparkSession) -> None:
    decoded = decode.decoded(records(spark, ["é".encode(), b"\xff", None]), Decoder("string"))
    assert reasons(decoded) == [None, "the value is not UTF-8", None]


def test_bad_records_go_to_quarantine_and_good_ones_on(
    spark: SparkSession, topics: Topics, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To files and to a topic; the schema is inferred from a sample, and shown."""
    topic, bad = topics.make("mixed", 1), topics.make("bad", 1)
    topics.write(topic, [Record(b'{"n": %d}' % n, b"k") for n in range(10)])
    topics.write(topic, [Record(b"broken", b"k", headers=[("h", b"x")])])
    assert run(f"""
name: mixed
sources:
  - {{name: filed, topics: {topic}, decode: {{format: json, schema: n BIGINT}}, quarantine: {{files: bad}}}}
  - {{name: sent, topics: {topic}, decode: {{format: json, schema: infer}}, quarantine: {{topic: {bad}}}}}
sinks: [{{from: filed, files: good}}, {{name: other, from: sent, files: other}}]
""")
    assert "schema: n BIGINT" in capsys.readouterr().err
    assert [spark.read.parquet(str(tmp_path / name)).count() for name in ("good", "other", "bad")] == [10, 10, 1]
    kept = spark.read.parquet(str(tmp_path / "bad")).collect()[0]
    assert (kept.reason, kept.offset, bytes(kept.value)) == ("not one JSON object", 10, b"broken")
    record = topics.read(bad)[0]
    assert (record.value, record.key) == (b"broken", b"k")
    assert (record.headers["kafkish-reason"], record.headers["h"]) == (b"not one JSON object", b"x")
    assert record.headers["kafkish-source"].startswith(f"{topic}/0/10/".encode())
