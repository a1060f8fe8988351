"""backfill: an archive into a topic again, in the order of its offsets, at a rate that others can bear.

The archive is written in slices. Each slice takes a stretch of offsets of every partition, in order, and is remembered
when it is written, so that a run that was stopped goes on where it was. A slice that was cut off is written again: each
record has its source's place in a header, and a reader with `deduplicate` sees it once.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafkish import clock
from kafkish.pipelines.coordinates import SOURCE_HEADER, source_coordinates, with_header
from kafkish.pipelines.files import Files
from kafkish.pipelines.jobs.archive import scan_archive
from kafkish.pipelines.model import ArchiveSource, BackfillSink
from kafkish.pipelines.topic_rows import WRITER_OPTIONS

SLICE_RECORDS: Final = 1_000_000
SLICE_SECONDS: Final = 2
"""A slice of a limited backfill is what may be written in so much time: shorter bursts, more jobs."""

Place = tuple[str, int]
"""Topic and partition."""


@dataclass(frozen=True, slots=True)
class Span:
    """The offsets of one file of an archive: all of one partition."""

    path: str
    place: Place
    first_offset: int
    last_offset: int


@dataclass(frozen=True, slots=True)
class Slice:
    """A stretch of offsets, the end not included, of every partition, and the files that hold it."""

    paths: tuple[str, ...]
    ranges: Mapping[Place, tuple[int, int]]


def spans(archive: DataFrame) -> list[Span]:
    """What each file of an archive holds. Reads the offsets only."""
    rows = (
        archive.groupBy(F.col("_metadata.file_path").alias("path"), "topic", "partition")
        .agg(F.min("offset").alias("first"), F.max("offset").alias("last"))
        .collect()
    )
    return [Span(row.path, (row.topic, row.partition), row["first"], row["last"]) for row in rows]


def slices(files: list[Span], done: Mapping[Place, int], slice_records: int) -> Iterator[Slice]:
    """Cut what is not done yet so that all partitions advance together."""
    left: dict[Place, tuple[int, int]] = {}
    for span in files:
        first = max(span.first_offset, done.get(span.place, 0))
        low, high = left.get(span.place, (first, first))
        left[span.place] = (min(low, first), max(high, span.last_offset + 1))
    left = {place: (low, high) for place, (low, high) in left.items() if low < high}
    count = -(-sum(high - low for low, high in left.values()) // slice_records)
    for index in range(count):
        ranges = {
            place: (low + (high - low) * index // count, low + (high - low) * (index + 1) // count)
            for place, (low, high) in left.items()
        }
        yield Slice(tuple(sorted(span.path for span in files if _overlaps(span, ranges))), ranges)


def _overlaps(span: Span, ranges: Mapping[Place, tuple[int, int]]) -> bool:
    low, high = ranges.get(span.place, (0, 0))
    return span.first_offset < high and span.last_offset >= low


def backfill_rows(records: DataFrame, sink: BackfillSink) -> DataFrame:
    """Records of an archive for a topic, in the order of their offsets."""
    columns = {
        "topic": F.lit(sink.topic) if sink.topic else F.col("topic"),
        "key": F.col("key"),
        "value": F.col("value"),
        "headers": with_header(F.col("headers"), SOURCE_HEADER, source_coordinates()),
    }
    if sink.same_partitions:
        columns["partition"] = F.col("partition")
    ordered = records.repartition("topic", "partition").sortWithinPartitions("topic", "partition", "offset")
    return ordered.select(*[column.alias(name) for name, column in columns.items()])


class Backfill:
    """One backfill, from where it stopped to the end."""

    def __init__(
        self, spark: SparkSession, files: Files, source: ArchiveSource, sink: BackfillSink, state: str
    ) -> None:
        self._spark, self._files, self._source, self._sink = spark, files, source, sink
        self._state = f"{state}/done.json"
        self.spans = spans(scan_archive(spark, source))

    def partitions(self) -> dict[str, int]:
        """How many partitions each topic of the backfill needs."""
        needed: dict[str, int] = {}
        for span in self.spans:
            topic = self._sink.topic or span.place[0]
            needed[topic] = max(needed.get(topic, 0), span.place[1] + 1)
        return needed

    def run(self, servers: str, stopping: Event, tell: Callable[[int, int, int], None]) -> int:
        """Write the slices; how many records that was. `tell` hears how many are done, of how many, in what time."""
        limit = self._sink.rate_limit
        planned = list(slices(self.spans, self._done(), limit * SLICE_SECONDS if limit else SLICE_RECORDS))
        total = sum(high - low for piece in planned for low, high in piece.ranges.values())
        written, began_ms = 0, clock.monotonic_ms()
        for piece in planned:
            if stopping.is_set():
                break
            self._write(piece, servers)
            written += sum(high - low for low, high in piece.ranges.values())
            elapsed_ms = clock.monotonic_ms() - began_ms
            tell(written, total, elapsed_ms)
            if limit:
                stopping.wait(max(0.0, written / limit - elapsed_ms / 1_000))
        return written

    def _write(self, piece: Slice, servers: str) -> None:
        bounds = [(topic, partition, low, high) for (topic, partition), (low, high) in piece.ranges.items()]
        limits = self._spark.createDataFrame(bounds, "topic string, partition int, low long, high long")
        rows = scan_archive(self._spark, self._source, piece.paths).join(F.broadcast(limits), ["topic", "partition"])
        inside = rows.where("offset >= low AND offset < high")
        options = {**WRITER_OPTIONS, "kafka.bootstrap.servers": servers, **self._sink.options}
        backfill_rows(inside, self._sink).write.format("kafka").options(**options).save()
        self._remember({place: high for place, (_, high) in piece.ranges.items()})

    def _done(self) -> dict[Place, int]:
        known = json.loads(self._files.read(self._state) or "{}")
        return {(topic, int(partition)): end for topic, of in known.items() for partition, end in of.items()}

    def _remember(self, done: Mapping[Place, int]) -> None:
        ends: dict[str, dict[str, int]] = {}
        for (topic, partition), end in {**self._done(), **done}.items():
            ends.setdefault(topic, {})[str(partition)] = end
        self._files.write(self._state, json.dumps(ends))
