"""One run of a pipeline: questions first, then tables, then sinks, then checks. The only module that sees them all."""

import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import FrameType

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from kafkish.pipelines.checks import run_check
from kafkish.pipelines.context import Context, say
from kafkish.pipelines.errors import PipelineError
from kafkish.pipelines.explain import explained
from kafkish.pipelines.files import Files
from kafkish.pipelines.identity import claim_checkpoint
from kafkish.pipelines.jobs.backfill import Backfill
from kafkish.pipelines.model import ArchiveSource, BackfillSink, Pipeline, Sink, TopicSink
from kafkish.pipelines.preflight import look_at_sources, prepare_backfill, prepare_outputs
from kafkish.pipelines.progress import Display, Meter, offsets
from kafkish.pipelines.request import Request
from kafkish.pipelines.session import spark_session
from kafkish.pipelines.sinks import start_sink
from kafkish.pipelines.sources import open_source
from kafkish.pipelines.steps import take_step
from kafkish.pipelines.topic_rows import quarantine_rows

POLL_SECONDS = 0.25


def run(pipeline: Pipeline, request: Request, bootstrap: str) -> int:
    """Start Spark and run; the process's exit code. Spark's log is kept when something went wrong."""
    handle = tempfile.NamedTemporaryFile(prefix=f"kafkish-{pipeline.name}-", suffix=".log", delete=False)  # noqa: SIM115  # only its name is wanted
    handle.close()
    log_path = Path(handle.name)
    try:
        with spark_session(pipeline.name, request.master, request.settings, log_path) as spark:
            good = run_with(spark, pipeline, bootstrap, request.once)
    except (PipelineError, PySparkException) as error:
        told = error if isinstance(error, PipelineError) else explained(error, pipeline.name)
        if log_path.stat().st_size:
            told = PipelineError(f"{told}\nSpark's log: {log_path}")
        raise told from None
    log_path.unlink()
    return 0 if good else 1


def run_with(spark: SparkSession, pipeline: Pipeline, bootstrap: str, once: bool = True) -> bool:
    """Run on a session that is there; whether all checks were good."""
    context = Context(spark, Files(spark), pipeline, bootstrap, once)
    look_at_sources(context)
    if pipeline.sinks:
        context = replace(context, owner=claim_checkpoint(context.files, pipeline, context.facts))
        prepare_outputs(context)
    with _stop_on_signal() as stopping:
        _run_sinks(context, build(context), stopping)
        for printer in context.printers:
            printer.finish()
        reports = [run_check(context, check) for check in pipeline.checks if not stopping.is_set()]
    for report in reports:
        sys.stdout.write(report.as_text() + "\n")
    sys.stdout.flush()
    return all(report.good for report in reports)


def build(context: Context) -> list[tuple[Sink, DataFrame]]:
    """Make all tables; the sinks, quarantines among them, with what they are to get."""
    wanted: list[tuple[Sink, DataFrame]] = []
    for source in context.pipeline.sources:
        rows, bad = open_source(context, source)
        _register(context, source.name, rows)
        if bad is not None and not isinstance(source, ArchiveSource) and source.quarantine:
            is_topic = isinstance(source.quarantine, TopicSink)
            wanted.append((source.quarantine, quarantine_rows(bad) if is_topic else bad))
    for step in context.pipeline.steps:
        _register(context, step.name, take_step(context, step))
    return [*wanted, *((sink, context.tables[sink.input]) for sink in context.pipeline.sinks)]


def _register(context: Context, name: str, rows: DataFrame) -> None:
    context.tables[name] = rows
    rows.createOrReplaceTempView(name)


def _run_sinks(context: Context, wanted: list[tuple[Sink, DataFrame]], stopping: Event) -> None:
    """Tables that do not grow first, then all streams at once, until they end or the run is stopped."""
    display = Display(sys.stderr)
    running: list[tuple[StreamingQuery, Meter]] = []
    try:
        for sink, rows in sorted(wanted, key=lambda pair: pair[1].isStreaming):
            if isinstance(sink, BackfillSink):
                _backfill(context, sink, display, stopping)
            elif query := start_sink(context, sink, rows):
                running.append((query, _meter(context, sink)))
        _follow(running, display, stopping)
    finally:
        for query, _ in running:
            query.stop()


def _meter(context: Context, sink: Sink) -> Meter:
    """A run to the end knows where that is."""
    first, goal = {}, {}
    for facts in context.facts.values():
        first.update(offsets(facts.start))
        goal.update(offsets(facts.end))
    return Meter(sink.name, first, goal if context.once else None)


def _follow(running: list[tuple[StreamingQuery, Meter]], display: Display, stopping: Event) -> None:
    """Watch the queries; the first that fails ends the run."""
    meters = [meter for _, meter in running]
    while running and not stopping.is_set():
        active = [query.isActive for query, _ in running]
        for query, meter in running:
            for progress in query.recentProgress:
                meter.take(progress)
            meter.finished = not query.isActive
            if error := query.exception():
                raise explained(error, meter.name)
        if not any(active):
            break
        display.show(meters)
        stopping.wait(POLL_SECONDS)
    display.finish(meters)


def _backfill(context: Context, sink: BackfillSink, display: Display, stopping: Event) -> None:
    source = context.pipeline.source(sink.input)
    assert isinstance(source, ArchiveSource)
    job = Backfill(context.spark, context.files, source, sink, context.checkpoint(sink.name))
    prepare_backfill(context, sink, job.partitions())
    meter = Meter(sink.name, goal={})

    def tell(done: int, total: int, elapsed_ms: int) -> None:
        meter.advance(done, total, elapsed_ms)
        display.show([meter])

    job.run(context.servers(sink.bootstrap), stopping, tell)
    meter.finished = not stopping.is_set()
    display.finish([meter])


@contextmanager
def _stop_on_signal() -> Iterator[Event]:
    """SIGTERM and SIGINT let the batches that run now end."""
    stopping = Event()

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        if not stopping.is_set():
            say("stopping")
        stopping.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
