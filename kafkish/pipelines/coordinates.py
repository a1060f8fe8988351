"""Where a record came from, in a header; and how a reader drops what was written twice.

Mirror and backfill write the header `kafkish-source`: `topic/partition/offset/timestamp` of the record that was copied.
A topic sink with `id` writes `kafkish-id`. Spark writes to topics at least once: after a crash the last batch is
written again, with the same headers. A reader that keeps the first record of each header therefore sees each record
once, in the order of the first writing.
"""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

SOURCE_HEADER: Final = "kafkish-source"
ID_HEADER: Final = "kafkish-id"
HEADERS_TYPE: Final = "array<struct<key: string, value: binary>>"

COLUMNS: Final = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")


def with_header(headers: Column, name: str, value: Column) -> Column:
    """Headers with one more at the end."""
    added = F.struct(F.lit(name).alias("key"), value.cast("binary").alias("value"))
    return F.concat(F.coalesce(headers, F.array().cast(HEADERS_TYPE)), F.array(added))


def header(headers: Column, *names: str) -> Column:
    """The value of the last header of these names, as text; null if there is none."""
    matching = F.filter(headers, lambda item: item["key"].isin(*names))
    return F.try_element_at(matching, F.lit(-1))["value"].cast("string")


def source_coordinates() -> Column:
    """What mirror and backfill write: the record's own place and time."""
    timestamp_ms = F.unix_millis("timestamp")
    return F.concat_ws("/", "topic", F.col("partition").cast("string"), F.col("offset").cast("string"), timestamp_ms)


def restored(copies: DataFrame) -> DataFrame:
    """Copies as they were at their source: place and time from the header, and without it.

    A record that has no such header stays as it is.
    """
    parts = F.split(header(F.col("headers"), SOURCE_HEADER), "/")
    is_copy = F.col("source").isNotNull()
    last = F.array_size("headers") - F.array_position(F.reverse(F.transform("headers", _key)), F.lit(SOURCE_HEADER))
    kept = F.filter("headers", lambda _, index: index != last.cast("int"))
    original_headers = F.when(F.size(kept) > 0, kept)
    return (
        copies.withColumn("source", parts)
        .withColumn("topic", F.when(is_copy, F.col("source")[0]).otherwise(F.col("topic")))
        .withColumn("partition", F.when(is_copy, F.col("source")[1].cast("int")).otherwise(F.col("partition")))
        .withColumn("offset", F.when(is_copy, F.col("source")[2].cast("long")).otherwise(F.col("offset")))
        .withColumn("timestamp", F.when(is_copy, _moment(F.col("source")[3])).otherwise(F.col("timestamp")))
        .withColumn("headers", F.when(is_copy, original_headers).otherwise(F.col("headers")))
        .drop("source")
    )


def deduplicated(records: DataFrame, within: str) -> DataFrame:
    """The first record of each header that names it; records without one are kept as they are.

    On a stream the names of the last `within` are remembered, by the records' timestamps.
    """
    name = F.coalesce(header(F.col("headers"), ID_HEADER, SOURCE_HEADER), own_name())
    named = records.withColumn("kafkish_name", name)
    if records.isStreaming:
        first = named.withWatermark("timestamp", within).dropDuplicatesWithinWatermark(["kafkish_name"])
    else:
        first = named.dropDuplicates(["kafkish_name"])
    return first.drop("kafkish_name")


def own_name() -> Column:
    """A record that nobody named: its own place."""
    return F.concat_ws("/", F.lit(""), "topic", F.col("partition").cast("string"), F.col("offset").cast("string"))


def _key(item: Column) -> Column:
    return item["key"]


def _moment(milliseconds: Column) -> Column:
    return F.timestamp_millis(milliseconds.cast("long"))
