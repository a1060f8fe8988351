"""archive: topics to Parquet by topic and date, each (topic, partition, offset) once, whatever happens to the run.

A batch gives one file for each topic, date and partition, with its records in the order of their offsets:
`topic=orders/date=2024-05-01/partition-00003-batch-00000012-00.snappy.parquet`.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafkish.pipelines.coordinates import COLUMNS, HEADERS_TYPE
from kafkish.pipelines.files import Files, Listed
from kafkish.pipelines.model import ArchiveSink, ArchiveSource
from kafkish.pipelines.publish import Publisher, suffix

SCHEMA: Final = (
    f"key binary, value binary, headers {HEADERS_TYPE}, timestamp timestamp, partition int, offset bigint, "
    "topic string, date date"
)
PARTITION_BY: Final = ("topic", "date", "in_partition")
"""The last is a copy of `partition` that keeps the partitions' files apart until they have their names."""


def archive_rows(records: DataFrame) -> DataFrame:
    """Records of topics as an archive keeps them; the date is that of the record's timestamp, in UTC."""
    return records.select(
        *("key", "value", "headers", "timestamp", "partition", "offset", "topic"),
        F.to_date("timestamp").alias("date"),
        F.col("partition").alias("in_partition"),
    ).sortWithinPartitions(*PARTITION_BY, "offset")


def archive_publisher(files: Files, sink: ArchiveSink) -> Publisher:
    """Writes the batches of an archive."""
    return Publisher(files, sink.path, "parquet", archive_names, PARTITION_BY, sink.options)


def archive_names(staged: list[Listed], batch: int) -> dict[str, str]:
    """Names that say partition and batch, so that sorting them sorts by offset."""
    names: dict[str, str] = {}
    pieces: dict[PurePosixPath, int] = {}
    for file in staged:
        path = PurePosixPath(file.below)
        piece = pieces.get(path.parent, 0)
        pieces[path.parent] = piece + 1
        partition = int(path.parent.name.partition("=")[2])
        name = f"partition-{partition:05d}-batch-{batch:08d}-{piece:02d}.{suffix(path)}"
        names[file.path] = str(path.parent.parent / name)
    return names


def scan_archive(spark: SparkSession, source: ArchiveSource, paths: Sequence[str] = ()) -> DataFrame:
    """The files of an archive, all of them or those of `paths`."""
    rows = spark.read.schema(SCHEMA).option("basePath", source.path).parquet(*(paths or (source.path,)))
    if source.topics:
        rows = rows.where(F.col("topic").isin(*source.topics))
    if source.first_date:
        first, last = (F.lit(date).cast("date") for date in (source.first_date, source.last_date))
        rows = rows.where(F.col("date").between(first, last))
    return rows


def read_archive(spark: SparkSession, source: ArchiveSource) -> DataFrame:
    """The records of an archive, with the columns that a topic has."""
    return scan_archive(spark, source).select(*COLUMNS)
