"""Sources as DataFrames."""

import json
from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.readwriter import DataFrameReader
from pyspark.sql.streaming.readwriter import DataStreamReader

from kafkish.pipelines import decode
from kafkish.pipelines.cluster import Ends
from kafkish.pipelines.context import Context, TopicFacts, say
from kafkish.pipelines.coordinates import deduplicated
from kafkish.pipelines.ddl import Schema, parse_schema
from kafkish.pipelines.errors import Where
from kafkish.pipelines.jobs.archive import read_archive
from kafkish.pipelines.model import ArchiveSource, Decoder, FileSource, Source, TopicSource, Watermark


def open_source(context: Context, source: Source) -> tuple[DataFrame, DataFrame | None]:
    """A source's good records as a table, and its bad ones if they are to be kept."""
    if isinstance(source, ArchiveSource):
        return read_archive(context.spark, source), None
    if isinstance(source, TopicSource):
        format, records = source.decoder.format, topic_records(context, source)
    else:
        format, records = source.format, file_records(context, source)
    if source.quarantine is None:
        records = decode.failing(records) if format not in ("raw", "parquet") else records
    rows = decode.good(records, format)
    if source.watermark:
        rows = with_watermark(rows, source.watermark, source.where)
    return rows, decode.bad(records) if source.quarantine else None


def with_watermark(rows: DataFrame, watermark: Watermark, where: Where) -> DataFrame:
    """Say how late rows may be."""
    types = dict(rows.dtypes)
    if types.get(watermark.column) != "timestamp":
        found = f"is {types[watermark.column]}" if watermark.column in types else "is not a column"
        raise where.error(f"watermark: {watermark.column} {found}; it must be a timestamp")
    return rows.withWatermark(watermark.column, watermark.delay)


# -- topics


def topic_records(context: Context, source: TopicSource) -> DataFrame:
    """Every record of the range, decoded, with the reason if it is bad."""
    facts = context.facts[source.name]
    records = read_topics(context, source, facts)
    if source.deduplicate:
        records = deduplicated(records, source.deduplicate)
    decoder = source.decoder
    if decoder.format == "json" and decoder.schema is None:
        decoder = Decoder("json", kept_schema(context, source, facts))
    return decode.decoded(records, decoder)


def read_topics(context: Context, source: TopicSource, facts: TopicFacts) -> DataFrame:
    """Records as they are in the topics: a stream, or a table if the range has an end."""
    options = {
        "kafka.bootstrap.servers": context.servers(source.bootstrap),
        "startingOffsets": as_json(facts.start),
        **subscription(source, facts),
        **connector_options(source.options),
    }
    reader: DataFrameReader | DataStreamReader
    if source.end is None:
        reader = context.spark.readStream.option("maxOffsetsPerTrigger", source.batch_records)
    else:
        reader = context.spark.read.option("endingOffsets", as_json(facts.end))
    return reader.format("kafka").options(**options).load().select(*decode.ORIGIN)


def subscription(source: TopicSource, facts: TopicFacts) -> dict[str, str]:
    """A stream by pattern also takes topics that are made later; a table takes those that were found."""
    if source.pattern and source.end is None:
        return {"subscribePattern": source.pattern}
    return {"subscribe": ",".join(facts.topics)}


def connector_options(own: Mapping[str, str]) -> dict[str, str]:
    """What every reader gets; its own options come last."""
    return {
        "includeHeaders": "true",
        "failOnDataLoss": "true",  # records that were deleted before they were read are an error, not a gap
        "kafka.isolation.level": "read_committed",
        **own,
    }


def as_json(ends: Ends) -> str:
    """Offsets as Spark takes them."""
    return json.dumps(
        {topic: {str(partition): offset for partition, offset in of.items()} for topic, of in ends.items()}
    )


# -- inferred schemas


def kept_schema(context: Context, source: TopicSource, facts: TopicFacts) -> Schema:
    """The schema that the first run inferred, so that a restart decodes in the same way."""
    path = context.checkpoint(f"{source.name}.schema")
    if kept := context.files.read(path):
        return parse_schema(kept)
    sample = sample_values(context, source, facts)
    schema = inferred_schema(context.spark, sample)
    if schema is None:
        raise source.where.error(f"no schema can be inferred: {len(sample)} records, none of them a JSON object")
    say(f"{source.name}: schema inferred from {len(sample)} records; write it down as\n    schema: {schema}")
    context.files.write(path, str(schema))
    return schema


def sample_values(context: Context, source: TopicSource, facts: TopicFacts) -> list[str]:
    """The first values of each partition."""
    share = max(1, source.decoder.sample_records // max(1, sum(len(of) for of in facts.end.values())))
    first = context.facts[source.name].start
    end = {
        topic: {partition: min(start + share, facts.end[topic][partition]) for partition, start in of.items()}
        for topic, of in first.items()
    }
    options = {
        "kafka.bootstrap.servers": context.servers(source.bootstrap),
        "subscribe": ",".join(facts.topics),
        "startingOffsets": as_json(first),
        "endingOffsets": as_json(end),
        **connector_options(source.options),
    }
    rows = context.spark.read.format("kafka").options(**options).load().selectExpr("CAST(value AS STRING) AS value")
    return [row.value for row in rows.collect() if row.value is not None]


def inferred_schema(spark: SparkSession, values: list[str]) -> Schema | None:
    """The columns that these JSON objects have."""
    sample = spark.read.option("mode", "DROPMALFORMED").json(spark.sparkContext.parallelize(values, 1))
    if not sample.schema.fields:
        return None
    return parse_schema(sample.schema.toDDL())


# -- files


def file_records(context: Context, source: FileSource) -> DataFrame:
    """Rows of files, with the reason if one is bad."""
    if not context.files.exists(source.path) and "*" not in source.path:
        raise source.where.error(f"{source.path} does not exist")
    reader: DataFrameReader | DataStreamReader = context.spark.readStream if source.stream else context.spark.read
    if source.format == "parquet":
        if source.stream:
            reader = reader.schema(context.spark.read.options(**source.options).parquet(source.path).schema)
        rows = reader.options(**source.options).parquet(source.path)
        return rows.withColumn(decode.REASON, F.lit(None).cast("string"))
    schema = source.schema or file_schema(context, source)
    if source.format == "json":
        lines = reader.options(**source.options).text(source.path).withColumn("file", F.col("_metadata.file_path"))
        return decode.json_decoded(lines, schema)
    return csv_records(reader, source, schema)


def csv_records(reader: DataFrameReader | DataStreamReader, source: FileSource, schema: Schema) -> DataFrame:
    """Lines that do not fit the schema are bad; a header that does not fit stops the run."""
    options = {
        "header": "true",
        "enforceSchema": "false",
        "columnPruning": "false",  # a line is bad whichever columns a query looks at
        **source.options,
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": "value",
    }
    rows = reader.schema(f"{schema.text}, value STRING").options(**options).csv(source.path)
    names = [F.col(f"`{column.name}`") for column in schema.columns]
    reason = F.when(F.col("value").isNotNull(), "does not fit the schema")
    for column in schema.columns:
        if column.required:
            reason = reason.when(F.col(f"`{column.name}`").isNull(), f"{column.name} is missing")
    return rows.select(
        F.struct(*names).alias(decode.FIELDS),
        F.col("_metadata.file_path").alias("file"),
        F.coalesce("value", F.to_csv(F.struct(*names))).alias("value"),
        reason.alias(decode.REASON),
    )


def file_schema(context: Context, source: FileSource) -> Schema:
    """Infer the columns of files, and say what they are."""
    reader = context.spark.read.options(**{"header": "true", "inferSchema": "true", **source.options})
    found = (reader.json if source.format == "json" else reader.csv)(source.path).schema
    schema = parse_schema(found.toDDL())
    say(f"{source.name}: schema inferred; write it down as\n    schema: {schema}")
    return schema
