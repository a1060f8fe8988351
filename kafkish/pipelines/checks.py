"""Runs the `verify` part of a pipeline: opens both sides, makes the pass, tells what it found."""

from dataclasses import replace

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kafkish.pipelines.cluster import Ends, cluster
from kafkish.pipelines.context import Context
from kafkish.pipelines.coordinates import COLUMNS, restored
from kafkish.pipelines.explain import first_sentence
from kafkish.pipelines.jobs.archive import read_archive
from kafkish.pipelines.jobs.verify import examine, first_gaps
from kafkish.pipelines.model import ArchiveSource, Check, Side
from kafkish.pipelines.preflight import existing, topic_range
from kafkish.pipelines.report import PartitionReport, Report, make_report
from kafkish.pipelines.sources import as_json, connector_options


def run_check(context: Context, check: Check) -> Report:
    """Look at the subject, and at what it is compared with."""
    subject, start, end = _open(context, check.subject)
    other = None
    if check.against:
        other = _within(context, _open(context, check.against)[0], start, end)
        if not (check.subject.source_coordinates or check.against.source_coordinates):
            other = other.withColumn("topic", F.lit(check.subject.topic))
    try:
        rows = [row.asDict() for row in examine(subject, other, check.key, check.sequence).collect()]
    except (AnalysisException, ParseException) as error:
        raise check.where.error(first_sentence(error)) from None
    report = make_report(check, rows, start, end)
    if report.trouble("gaps"):
        report = _with_first_gaps(report, subject)
    if check.report:
        context.files.write(check.report, report.as_json() + "\n")
    return report


def _open(context: Context, side: Side) -> tuple[DataFrame, Ends, Ends]:
    """A side's records, and the offsets that they should have, if its broker knows."""
    start: Ends = {}
    end: Ends = {}
    if side.archive:
        if not context.files.exists(side.archive):
            raise side.where.error(f"{side.archive} does not exist")
        records = read_archive(context.spark, ArchiveSource(side.topic, side.where, side.archive, (side.topic,)))
    else:
        records, start, end = _open_topic(context, side)
    if side.source_coordinates:
        return restored(records), {}, {}
    return records, start, end


def _open_topic(context: Context, side: Side) -> tuple[DataFrame, Ends, Ends]:
    servers = context.servers(side.bootstrap)
    with cluster(context.spark, servers, side.options) as kafka:
        facts = topic_range(kafka, existing(kafka, [side.topic], side.where), side.start, side.end, side.where)
    options = {
        "kafka.bootstrap.servers": servers,
        "subscribe": side.topic,
        "startingOffsets": as_json(facts.start),
        "endingOffsets": as_json(facts.end),
        **connector_options(side.options),
    }
    return context.spark.read.format("kafka").options(**options).load().select(*COLUMNS), facts.start, facts.end


def _within(context: Context, records: DataFrame, start: Ends, end: Ends) -> DataFrame:
    """Only what the subject's range covers; partitions that the subject does not have stay, to be found."""
    if not start:
        return records
    bounds = [(partition, low, end[topic][partition]) for topic, of in start.items() for partition, low in of.items()]
    limits = context.spark.createDataFrame(bounds, "partition int, low long, high long")
    joined = records.join(F.broadcast(limits), "partition", "left")
    return joined.where("low IS NULL OR (offset >= low AND offset < high)").select(*COLUMNS)


def _with_first_gaps(report: Report, subject: DataFrame) -> Report:
    """Find where the first gap of each partition is."""
    starts = {(row.topic, row.partition): row.gap for row in first_gaps(subject).collect()}

    def told(part: PartitionReport) -> PartitionReport:
        gap = starts.get((part.topic, part.partition))
        return part if gap is None else replace(part, first={**part.first, "gaps": gap})

    return replace(report, partitions=[told(part) for part in report.partitions])
