"""A pipeline as data: what a pipeline file says, checked, without Spark. `docs/pipelines.md` explains each field."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kafkish.pipelines.ddl import Schema
from kafkish.pipelines.errors import Where

BATCH_RECORDS: Final = 1_000_000
"""How many records a batch takes from a topic unless the source says otherwise."""


# -- places in a topic


@dataclass(frozen=True, slots=True)
class Edge:
    """The end of a topic that was there first or last: `earliest` or `latest`."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Moment:
    """The first record at or after a time; the end if there is none."""

    timestamp_ms: int

    def __str__(self) -> str:
        return f"timestamp {self.timestamp_ms}"


@dataclass(frozen=True, slots=True)
class Offsets:
    """Offsets for each partition of each topic."""

    by_topic: Mapping[str, Mapping[int, int]]

    def __str__(self) -> str:
        return "given offsets"


Position = Edge | Moment | Offsets
EARLIEST: Final = Edge("earliest")
LATEST: Final = Edge("latest")


# -- sources


@dataclass(frozen=True, slots=True)
class Decoder:
    """How bytes become columns: `raw`, `string`, `json` or `avro`."""

    format: str = "raw"
    schema: Schema | None = None
    """For JSON; None: inferred from `sample_records`."""
    avro_schema: str = ""
    sample_records: int = 1_000
    confluent: bool = False
    """Avro after five bytes that name a schema in a registry."""

    def __str__(self) -> str:
        return f"{self.format} ({self.schema or 'schema inferred'})" if self.format == "json" else self.format


@dataclass(frozen=True, slots=True)
class Watermark:
    """How late a record may be, by a column that holds its time."""

    column: str
    delay: str


@dataclass(frozen=True, slots=True)
class TopicSource:
    """Topics, by name or by pattern. With an `end` it is a table that does not grow."""

    name: str
    where: Where
    topics: tuple[str, ...] = ()
    pattern: str = ""
    bootstrap: str = ""
    start: Position = EARLIEST
    end: Position | None = None
    decoder: Decoder = Decoder()
    quarantine: "Sink | None" = None
    watermark: Watermark | None = None
    deduplicate: str = ""
    batch_records: int = BATCH_RECORDS
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        what = f"topics {', '.join(self.topics)}" if self.topics else f"topics like {self.pattern}"
        until = f" to {self.end}" if self.end else ""
        return f"{what} from {self.start}{until}, {self.decoder}{_bad_records(self.quarantine, self.decoder.format)}"


@dataclass(frozen=True, slots=True)
class FileSource:
    """Files. A table that does not grow, unless `stream`."""

    name: str
    where: Where
    path: str
    format: str
    schema: Schema | None = None
    stream: bool = False
    quarantine: "Sink | None" = None
    watermark: Watermark | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.format} files {self.path}{_bad_records(self.quarantine, self.format)}"


@dataclass(frozen=True, slots=True)
class ArchiveSource:
    """What the archive sink wrote."""

    name: str
    where: Where
    path: str
    topics: tuple[str, ...] = ()
    first_date: str = ""
    last_date: str = ""

    def __str__(self) -> str:
        return f"archive {self.path}{', topics ' * bool(self.topics)}{', '.join(self.topics)}"


Source = TopicSource | FileSource | ArchiveSource


def _bad_records(quarantine: "Sink | None", format: str) -> str:
    if format in ("raw", "parquet"):
        return ""
    return f"; bad records to {quarantine}" if quarantine else "; a bad record stops the run"


# -- steps


@dataclass(frozen=True, slots=True)
class SqlStep:
    """A query over sources and earlier steps."""

    name: str
    where: Where
    sql: str
    watermark: Watermark | None = None

    def __str__(self) -> str:
        return "SQL: " + " ".join(self.sql.split())[:80]


@dataclass(frozen=True, slots=True)
class PythonStep:
    """A function from DataFrames to a DataFrame, in a file beside the pipeline."""

    name: str
    where: Where
    file: Path
    function: str
    inputs: tuple[str, ...]
    watermark: Watermark | None = None

    def __str__(self) -> str:
        return f"{self.file.name}:{self.function}({', '.join(self.inputs)})"


@dataclass(frozen=True, slots=True)
class AggregateStep:
    """Values per window of time; tumbling, or sliding if `slide` is given."""

    name: str
    where: Where
    input: str
    time: str
    window: str
    values: Mapping[str, str]
    slide: str = ""
    watermark: str = ""
    by: tuple[str, ...] = ()

    def __str__(self) -> str:
        sliding = f" every {self.slide}" if self.slide else ""
        return f"{', '.join(self.values)} of {self.input} per {self.window}{sliding}"


@dataclass(frozen=True, slots=True)
class JoinStep:
    """Two inputs side by side. Two streams need times and how far these may lie apart."""

    name: str
    where: Where
    left: str
    right: str
    on: tuple[str, ...]
    how: str = "inner"
    left_time: str = ""
    right_time: str = ""
    earliest: str = ""
    """The right time may be this much before the left one,"""
    latest: str = ""
    """or this much after it."""
    watermark: str = ""

    def __str__(self) -> str:
        return f"{self.how} join of {self.left} and {self.right} on {', '.join(self.on)}"


Step = SqlStep | PythonStep | AggregateStep | JoinStep


# -- sinks


@dataclass(frozen=True, slots=True)
class FilesSink:
    """Files that hold each row once. `complete` is one file that is replaced; `append` adds files."""

    name: str
    where: Where
    input: str
    path: str
    format: str = "parquet"
    mode: str = "append"
    partition_by: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.format} files {self.path}"


@dataclass(frozen=True, slots=True)
class TopicSink:
    """A topic. `id_columns` give each record a name by which a reader knows it again."""

    name: str
    where: Where
    input: str
    topic: str
    bootstrap: str = ""
    key: str = ""
    value: str = "json"
    avro_schema: str = ""
    mode: str = "append"
    id_columns: tuple[str, ...] = ()
    partitions: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"topic {self.topic}"


@dataclass(frozen=True, slots=True)
class ArchiveSink:
    """Parquet partitioned by topic and date, each (topic, partition, offset) once."""

    name: str
    where: Where
    input: str
    path: str
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"archive {self.path}"


@dataclass(frozen=True, slots=True)
class BackfillSink:
    """A topic that gets an archive again, in order, at most `rate_limit` records a second."""

    name: str
    where: Where
    input: str
    topic: str = ""
    bootstrap: str = ""
    rate_limit: int | None = None
    same_partitions: bool = True
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        limit = f", at most {self.rate_limit:,} records/s" if self.rate_limit else ""
        return f"backfill of {self.topic or 'the same topics'}{limit}"


@dataclass(frozen=True, slots=True)
class MirrorSink:
    """The same topics on another cluster, with their source's offsets in a header."""

    name: str
    where: Where
    input: str
    bootstrap: str = ""
    prefix: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"mirror to {self.bootstrap or 'the default cluster'}"


@dataclass(frozen=True, slots=True)
class PrintSink:
    """A table on standard output."""

    name: str
    where: Where
    input: str
    rows: int = 20
    order_by: tuple[str, ...] = ()
    mode: str = "append"

    def __str__(self) -> str:
        return f"the first {self.rows} rows, printed"


Sink = FilesSink | TopicSink | ArchiveSink | BackfillSink | MirrorSink | PrintSink


# -- checks


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: a range of a topic, or an archive."""

    where: Where
    topic: str
    archive: str = ""
    bootstrap: str = ""
    start: Position = EARLIEST
    end: Position = LATEST
    source_coordinates: bool = False
    """Take topic, partition, offset and time from the header that mirror and backfill wrote."""
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"archive {self.archive}" if self.archive else f"topic {self.topic}"


@dataclass(frozen=True, slots=True)
class Check:
    """What `verify` looks at."""

    name: str
    where: Where
    subject: Side
    against: Side | None = None
    key: str = "key"
    sequence: str = ""
    gaps_allowed: bool = False
    report: str = ""

    def __str__(self) -> str:
        return f"{self.subject}" + (f" against {self.against}" if self.against else "")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A pipeline file."""

    name: str
    file: Path
    checkpoint: str
    bootstrap: str
    every: str
    sources: tuple[Source, ...]
    steps: tuple[Step, ...]
    sinks: tuple[Sink, ...]
    checks: tuple[Check, ...]

    def source(self, name: str) -> Source | None:
        """The source of that name."""
        return next((source for source in self.sources if source.name == name), None)

    @property
    def all_sinks(self) -> tuple[Sink, ...]:
        """The sinks, quarantines among them."""
        quarantines = (source.quarantine for source in self.sources if not isinstance(source, ArchiveSource))
        return (*self.sinks, *(sink for sink in quarantines if sink))

    @property
    def clusters(self) -> list[tuple[str, Where]]:
        """The address of every source, sink and check that has topics; empty where it is the default one."""
        parts: list[Source | Sink | Side] = [*self.sources, *self.all_sinks]
        for check in self.checks:
            parts += [side for side in (check.subject, check.against) if side and not side.archive]
        of_topics = (TopicSource, TopicSink, BackfillSink, MirrorSink, Side)
        return [(part.bootstrap, part.where) for part in parts if isinstance(part, of_topics)]

    @property
    def needs_default_cluster(self) -> bool:
        """Whether some topic has no address of its own, and the file gives none."""
        return not self.bootstrap and any(not own for own, _ in self.clusters)
