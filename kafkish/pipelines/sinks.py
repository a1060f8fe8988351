"""Sinks: a query for each stream, or a single write for a table that does not grow."""

from collections.abc import Callable

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from kafkish.pipelines.context import Context, say
from kafkish.pipelines.explain import first_sentence
from kafkish.pipelines.identity import claim_output
from kafkish.pipelines.jobs.archive import archive_publisher, archive_rows
from kafkish.pipelines.jobs.mirror import mirror_rows
from kafkish.pipelines.model import ArchiveSink, FilesSink, MirrorSink, PrintSink, Sink, TopicSink
from kafkish.pipelines.printing import Printer
from kafkish.pipelines.publish import Publisher, name_of_table, names_by_batch
from kafkish.pipelines.topic_rows import WRITER_OPTIONS, topic_rows

Batch = Callable[[DataFrame, int], object]


def start_sink(context: Context, sink: Sink, rows: DataFrame) -> StreamingQuery | None:
    """Start a stream's query; a table that does not grow is written now."""
    try:
        if rows.isStreaming:
            return _start(context, sink, rows)
        _write(context, sink, rows)
        return None
    except AnalysisException as error:
        raise sink.where.error(first_sentence(error)) from None


def _start(context: Context, sink: Sink, rows: DataFrame) -> StreamingQuery:
    writer = _shaped(sink, rows).writeStream.queryName(sink.name).outputMode(getattr(sink, "mode", "append"))
    writer = writer.option("checkpointLocation", context.checkpoint(sink.name))
    writer = (
        writer.trigger(availableNow=True) if context.once else writer.trigger(processingTime=context.pipeline.every)
    )
    if isinstance(sink, TopicSink | MirrorSink):
        return writer.format("kafka").options(**_writer_options(context, sink)).start()
    return _for_each_batch(writer, _batch_writer(context, sink)).start()


def _for_each_batch(writer: DataStreamWriter, write: Batch) -> DataStreamWriter:
    def call(rows: DataFrame, batch: int) -> None:
        write(rows, batch)

    return writer.foreachBatch(call)


def _write(context: Context, sink: Sink, rows: DataFrame) -> None:
    """The whole table as one batch. Files of an earlier run are replaced; a topic is not written a second time."""
    if not isinstance(sink, TopicSink):
        _batch_writer(context, sink)(rows, 0)
        return
    done = f"{context.checkpoint(sink.name)}/written"
    if context.files.exists(done):
        say(f"{sink.name}: an earlier run wrote this table to {sink.topic}; a new checkpoint would write it again")
        return
    _shaped(sink, rows).write.format("kafka").options(**_writer_options(context, sink)).save()
    context.files.write(done, "")


def _shaped(sink: Sink, rows: DataFrame) -> DataFrame:
    """Rows as the sink's topic keeps them."""
    if isinstance(sink, MirrorSink):
        return mirror_rows(rows, sink.prefix)
    return topic_rows(rows, sink) if isinstance(sink, TopicSink) else rows


def _writer_options(context: Context, sink: TopicSink | MirrorSink) -> dict[str, str]:
    topic = {"topic": sink.topic} if isinstance(sink, TopicSink) else {}
    return {**WRITER_OPTIONS, "kafka.bootstrap.servers": context.servers(sink.bootstrap), **topic, **sink.options}


def _batch_writer(context: Context, sink: Sink) -> Batch:
    """What writes one batch to files, or to standard output."""
    if isinstance(sink, PrintSink):
        context.printers.append(Printer(sink, live=not context.once))
        return context.printers[-1].take
    assert isinstance(sink, FilesSink | ArchiveSink)
    if isinstance(sink, ArchiveSink):
        publisher = archive_publisher(context.files, sink)
        claim_output(context.files, sink.path, context.owner, context.pipeline.checkpoint, sink.where)
        return lambda rows, batch: publisher.publish(archive_rows(rows), batch)
    if sink.mode == "complete":
        table = Publisher(context.files, sink.path, sink.format, name_of_table, options=sink.options)
        return lambda rows, batch: table.publish(rows.coalesce(1), batch)
    claim_output(context.files, sink.path, context.owner, context.pipeline.checkpoint, sink.where)
    publisher = Publisher(context.files, sink.path, sink.format, names_by_batch, sink.partition_by, sink.options)
    return publisher.publish
