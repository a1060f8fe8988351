"""The `sinks` of a pipeline file, and the quarantine of a source, which is one."""

from collections.abc import Callable, Mapping
from typing import Final

from kafkish.pipelines.document import Field, one_kind
from kafkish.pipelines.model import ArchiveSink, BackfillSink, FilesSink, MirrorSink, PrintSink, Sink, TopicSink

KINDS: Final = ("files", "topic", "archive", "backfill", "mirror", "print")
FORMATS: Final = ("parquet", "json", "csv")
FIELDS: Final = {
    "files": ("format", "mode", "partition_by", "options"),
    "topic": ("bootstrap", "key", "value", "schema_file", "mode", "id", "partitions", "options"),
    "archive": ("options",),
    "backfill": ("bootstrap", "rate_limit", "partition", "options"),
    "mirror": ("prefix", "options"),
    "print": ("order_by", "mode"),
}
TOPIC_VALUES: Final = ("json", "avro", "string", "raw")


def read_sink(field: Field) -> Sink:
    """One entry of `sinks`."""
    kind = one_kind(field.mapping(), KINDS, field)
    fields = field.fields(("name", "from", kind, *FIELDS[kind]), required=("from",))
    source = fields["from"].name()
    name = fields["name"].label() if "name" in fields else f"{source}-{kind}"
    return _READERS[kind](fields, name, source)


def read_quarantine(field: Field, source: str) -> Sink:
    """Where a source's bad records go: files or a topic."""
    kind = one_kind(field.mapping(), ("files", "topic"), field)
    known = {"files": ("format", "options"), "topic": ("bootstrap", "partitions", "options")}
    fields = field.fields((kind, *known[kind]))
    name = f"{source}-quarantine"
    if kind == "topic":
        return read_topic(fields, name, source, value="raw")
    return read_files(fields, name, source)


def read_files(fields: Mapping[str, Field], name: str, source: str) -> FilesSink:
    """Parquet, JSON or CSV files."""
    mode = fields["mode"].choice(("append", "complete")) if "mode" in fields else "append"
    partition_by = fields["partition_by"].texts() if "partition_by" in fields else ()
    if mode == "complete" and partition_by:
        raise fields["partition_by"].error("a complete table is one file; it has no partitions")
    return FilesSink(
        name,
        fields["files"].where,
        source,
        fields["files"].file(),
        fields["format"].choice(FORMATS) if "format" in fields else "parquet",
        mode,
        partition_by,
        fields["options"].text_map() if "options" in fields else {},
    )


def read_topic(fields: Mapping[str, Field], name: str, source: str, value: str = "json") -> TopicSink:
    """A topic."""
    value = fields["value"].choice(TOPIC_VALUES) if "value" in fields else value
    if (value == "avro") != ("schema_file" in fields):
        raise fields["topic"].error("`value: avro` and `schema_file` belong together")
    return TopicSink(
        name,
        fields["topic"].where,
        source,
        fields["topic"].topic(),
        fields["bootstrap"].servers() if "bootstrap" in fields else "",
        fields["key"].verbatim() if "key" in fields else "",
        value,
        fields["schema_file"].json_file() if "schema_file" in fields else "",
        fields["mode"].choice(("append", "update", "complete")) if "mode" in fields else "append",
        fields["id"].texts() if "id" in fields else (),
        fields["partitions"].integer() if "partitions" in fields else None,
        fields["options"].text_map() if "options" in fields else {},
    )


def read_archive(fields: Mapping[str, Field], name: str, source: str) -> ArchiveSink:
    """An archive."""
    archive = fields["archive"]
    options = fields["options"].text_map() if "options" in fields else {}
    return ArchiveSink(name, archive.where, source, archive.file(), options)


def read_backfill(fields: Mapping[str, Field], name: str, source: str) -> BackfillSink:
    """`backfill: TOPIC`, or `backfill: same` for the topics' own names."""
    topic = fields["backfill"].topic()
    return BackfillSink(
        name,
        fields["backfill"].where,
        source,
        "" if topic == "same" else topic,
        fields["bootstrap"].servers() if "bootstrap" in fields else "",
        fields["rate_limit"].integer() if "rate_limit" in fields else None,
        "partition" not in fields or fields["partition"].choice(("same", "by_key")) == "same",
        fields["options"].text_map() if "options" in fields else {},
    )


def read_mirror(fields: Mapping[str, Field], name: str, source: str) -> MirrorSink:
    """`mirror: HOST:PORT`, or `mirror: default` for the cluster of `--bootstrap`."""
    mirror = fields["mirror"]
    bootstrap = "" if mirror.verbatim() == "default" else mirror.servers()
    prefix = fields["prefix"].topic() if "prefix" in fields else ""
    options = fields["options"].text_map() if "options" in fields else {}
    return MirrorSink(name, mirror.where, source, bootstrap, prefix, options)


def read_print(fields: Mapping[str, Field], name: str, source: str) -> PrintSink:
    """`print: ROWS`."""
    rows = fields["print"]
    order_by = fields["order_by"].texts() if "order_by" in fields else ()
    mode = fields["mode"].choice(("append", "update", "complete")) if "mode" in fields else "append"
    return PrintSink(name, rows.where, source, rows.integer(), order_by, mode)


_READERS: Final[dict[str, Callable[[Mapping[str, Field], str, str], Sink]]] = {
    "files": read_files,
    "topic": read_topic,
    "archive": read_archive,
    "backfill": read_backfill,
    "mirror": read_mirror,
    "print": read_print,
}
