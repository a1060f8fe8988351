"""The `sources` of a pipeline file."""

import re
from collections.abc import Mapping
from typing import Final

from kafkish.pipelines.ddl import Schema, SchemaError, parse_schema
from kafkish.pipelines.document import Field, one_kind
from kafkish.pipelines.model import (
    BATCH_RECORDS,
    EARLIEST,
    LATEST,
    ArchiveSource,
    Decoder,
    FileSource,
    Moment,
    Offsets,
    Position,
    Source,
    TopicSource,
    Watermark,
)
from kafkish.pipelines.reading_sinks import read_quarantine

TOPIC_FIELDS: Final = (
    *("name", "topics", "pattern", "bootstrap", "from", "to", "decode", "quarantine", "watermark", "deduplicate"),
    *("batch_records", "options"),
)
FILE_FIELDS: Final = ("name", "files", "format", "schema", "stream", "quarantine", "watermark", "options")
ARCHIVE_FIELDS: Final = ("name", "archive", "topics", "dates")
DECODE_FIELDS: Final = ("format", "schema", "schema_file", "sample_records", "confluent")

OWN_OPTIONS: Final = {
    "subscribe": "topics",
    "subscribePattern": "pattern",
    "assign": "topics",
    "startingOffsets": "from",
    "startingTimestamp": "from",
    "startingOffsetsByTimestamp": "from",
    "endingOffsets": "to",
    "endingTimestamp": "to",
    "endingOffsetsByTimestamp": "to",
    "maxOffsetsPerTrigger": "batch_records",
    "kafka.bootstrap.servers": "bootstrap",
    "includeHeaders": "decode",
}
"""Options of Spark's connector that a field of the file stands for."""


def read_source(field: Field) -> Source:
    """One entry of `sources`."""
    fields = field.mapping()
    if "archive" in fields:
        return read_archive_source(field)
    if one_kind(fields, ("topics", "pattern", "files", "archive"), field) == "files":
        return read_file_source(field)
    return read_topic_source(field)


def read_topic_source(field: Field) -> TopicSource:
    """Topics by name or pattern."""
    fields = field.fields(TOPIC_FIELDS, required=("name",))
    decoder = read_decoder(fields["decode"]) if "decode" in fields else Decoder()
    name = fields["name"].name()
    if "quarantine" in fields and decoder.format == "raw":
        raise fields["quarantine"].error("raw bytes are never bad; give a decoder, or take this field away")
    pattern = fields["pattern"].text() if "pattern" in fields else ""
    try:
        re.compile(pattern)
    except re.error as error:
        raise fields["pattern"].error(f"{pattern!r} is not a regular expression: {error}") from None
    return TopicSource(
        name,
        fields["topics" if "topics" in fields else "pattern"].where,
        fields["topics"].topics() if "topics" in fields else (),
        pattern,
        fields["bootstrap"].servers() if "bootstrap" in fields else "",
        read_position(fields["from"]) if "from" in fields else EARLIEST,
        read_position(fields["to"]) if "to" in fields else None,
        decoder,
        read_quarantine(fields["quarantine"], name) if "quarantine" in fields else None,
        read_watermark(fields),
        fields["deduplicate"].duration() if "deduplicate" in fields else "",
        fields["batch_records"].integer() if "batch_records" in fields else BATCH_RECORDS,
        read_options(fields),
    )


def read_file_source(field: Field) -> FileSource:
    """Parquet, JSON lines or CSV."""
    fields = field.fields(FILE_FIELDS, required=("name", "format"))
    format = fields["format"].choice(("parquet", "json", "csv"))
    if format == "parquet":
        for name in ("quarantine", "schema"):
            if name in fields:
                raise fields[name].error("Parquet files carry their schema; take this field away")
    elif "schema" not in fields:
        raise field.error(f"schema is missing: give the columns of the {format} files, or `schema: infer`")
    stream = "stream" in fields and fields["stream"].boolean()
    if stream and fields.get("schema") and fields["schema"].verbatim() == "infer":
        raise fields["schema"].error("a stream of files needs a schema that is written down")
    name = fields["name"].name()
    return FileSource(
        name,
        fields["files"].where,
        fields["files"].file(),
        format,
        read_schema(fields),
        stream,
        read_quarantine(fields["quarantine"], name) if "quarantine" in fields else None,
        read_watermark(fields),
        read_options(fields),
    )


def read_archive_source(field: Field) -> ArchiveSource:
    """What an archive sink wrote."""
    fields = field.fields(ARCHIVE_FIELDS, required=("name",))
    first = last = ""
    if "dates" in fields:
        first, _, last = fields["dates"].verbatim().partition("..")
        last = last or first
        for date in (first, last):
            if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
                raise fields["dates"].error("expected a date such as 2024-05-01, or a range 2024-05-01..2024-05-31")
    topics = fields["topics"].topics() if "topics" in fields else ()
    archive = fields["archive"]
    return ArchiveSource(fields["name"].name(), archive.where, archive.file(), topics, first, last)


def read_decoder(field: Field) -> Decoder:
    """`decode: json` needs fields; `decode: string` does not."""
    if not field.is_mapping:
        format = field.choice(("raw", "string", "json", "avro"))
        if format in ("json", "avro"):
            needed = "schema: ..., or schema: infer" if format == "json" else "schema_file: ..."
            raise field.error(f"{format} needs a schema: write `decode: {{format: {format}, {needed}}}`")
        return Decoder(format)
    fields = field.fields(DECODE_FIELDS, required=("format",))
    format = fields["format"].choice(("raw", "string", "json", "avro"))
    wanted = {"json": {"schema", "sample_records"}, "avro": {"schema_file", "confluent"}}.get(format, set())
    for name in fields:
        if name != "format" and name not in wanted:
            raise fields[name].error(f"means nothing for {format}")
    for name in {"json": ("schema",), "avro": ("schema_file",)}.get(format, ()):
        if name not in fields:
            raise field.error(f"{name} is missing")
    return Decoder(
        format,
        read_schema(fields),
        fields["schema_file"].json_file() if "schema_file" in fields else "",
        fields["sample_records"].integer() if "sample_records" in fields else 1_000,
        "confluent" in fields and fields["confluent"].boolean(),
    )


def read_schema(fields: Mapping[str, Field]) -> Schema | None:
    """The columns; None if they are to be inferred."""
    if "schema" not in fields or fields["schema"].verbatim() == "infer":
        return None
    try:
        schema = parse_schema(fields["schema"].verbatim())
    except SchemaError as error:
        raise fields["schema"].error(str(error)) from None
    for column in schema.columns:
        if column.name.lower() in ("kafka", "file"):
            raise fields["schema"].error(f"{column.name} is the column that says where a record came from")
    return schema


def read_position(field: Field) -> Position:
    """`earliest`, `latest`, a moment, or offsets for each partition."""
    if field.is_mapping:
        return Offsets({topic: _partitions(partitions) for topic, partitions in field.mapping().items()})
    text = field.verbatim()
    if text in ("earliest", "latest"):
        return EARLIEST if text == "earliest" else LATEST
    return Moment(field.timestamp_ms())


def _partitions(field: Field) -> dict[int, int]:
    entries = field.mapping()
    for partition, offset in entries.items():
        if not partition.isdecimal():
            raise offset.error(f"{partition!r} is not a partition's number")
    return {int(partition): offset.integer(minimum=0) for partition, offset in entries.items()}


def read_watermark(fields: Mapping[str, Field]) -> Watermark | None:
    """Which column holds the time, and how late a record may be."""
    if "watermark" not in fields:
        return None
    inner = fields["watermark"].fields(("column", "delay"), required=("column", "delay"))
    return Watermark(inner["column"].verbatim(), inner["delay"].duration())


def read_options(fields: Mapping[str, Field]) -> dict[str, str]:
    """Options for Spark's connector, as Spark spells them."""
    options = fields["options"].mapping() if "options" in fields else {}
    for name, field in options.items():
        if name in OWN_OPTIONS:
            raise field.error(f"use the field `{OWN_OPTIONS[name]}`")
    return {name: field.text() for name, field in options.items()}
