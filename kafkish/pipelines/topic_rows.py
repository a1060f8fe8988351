"""Rows as records of a topic: what Spark's Kafka sink wants."""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro

from kafkish.pipelines.coordinates import HEADERS_TYPE, ID_HEADER, SOURCE_HEADER, source_coordinates, with_header
from kafkish.pipelines.model import TopicSink

WRITER_OPTIONS: Final = {
    "includeHeaders": "true",
    "kafka.acks": "all",
    "kafka.enable.idempotence": "true",  # a retried request is not written twice
}


def topic_rows(rows: DataFrame, sink: TopicSink) -> DataFrame:
    """Key, value and headers of each row."""
    headers = F.col("headers") if "headers" in rows.columns else F.lit(None).cast(HEADERS_TYPE)
    if sink.id_columns:
        texts = [F.coalesce(F.expr(column).cast("string"), F.lit("\\N")) for column in sink.id_columns]
        headers = with_header(headers, ID_HEADER, F.concat_ws("/", F.lit(sink.name), *texts))
    return rows.select(_key(rows, sink).alias("key"), _value(rows, sink).alias("value"), headers.alias("headers"))


def quarantine_rows(records: DataFrame) -> DataFrame:
    """Bad records for a topic: their own bytes, with the reason and their place in headers."""
    if "file" in records.columns:
        headers = with_header(F.lit(None).cast(HEADERS_TYPE), "kafkish-file", F.col("file"))
        key = F.lit(None).cast("binary")
    else:
        headers = with_header(F.col("headers"), SOURCE_HEADER, source_coordinates())
        key = F.col("key")
    headers = with_header(headers, "kafkish-reason", F.col("reason"))
    return records.select(key.alias("key"), F.col("value").cast("binary").alias("value"), headers.alias("headers"))


def _key(rows: DataFrame, sink: TopicSink) -> Column:
    if sink.key:
        key = F.expr(sink.key)
        return key if dict(rows.select(key.alias("key")).dtypes)["key"] == "binary" else key.cast("string")
    return F.col("key") if sink.value == "raw" and "key" in rows.columns else F.lit(None).cast("string")


def _value(rows: DataFrame, sink: TopicSink) -> Column:
    whole = F.struct(*[F.col(f"`{name}`") for name in rows.columns if name not in ("kafka", "file", "headers")])
    if sink.value == "json":
        return F.to_json(whole)
    if sink.value == "avro":
        return to_avro(whole, sink.avro_schema)
    return F.col("value") if sink.value == "raw" else F.col("value").cast("string")
