"""Spark reads and writes a topic in one batch."""

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import batches
import compaction
import control
import pytest
from batches import Record
from brokers import Broker
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from waiting import now_ms
from wire import Wire

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

NOON_MS = 1_700_000_000_000
MILLION = 1_000_000
FAILURES = (PySparkException, Py4JJavaError)  # Spark wraps only some of Java's


@pytest.fixture
def timed(wire: Wire, make_topic: Callable[..., str]) -> str:
    """Two partitions of ten records, a second apart from noon on, in two batches each."""
    topic = make_topic(2)
    for partition in (0, 1):
        records = [Record(b"%d" % n, timestamp_ms=NOON_MS + n * 1000) for n in range(10)]
        control.produce(wire, topic, batches.build(records[:4]), partition)
        control.produce(wire, topic, batches.build(records[4:], codec="lz4"), partition)
    return topic


def places(frame: DataFrame) -> list[tuple[int, int]]:
    """Partition and offset of each record."""
    return sorted((row.partition, row.offset) for row in frame.select("partition", "offset").collect())


def everything(*parts: tuple[int, Iterable[int]]) -> list[tuple[int, int]]:
    return sorted((partition, offset) for partition, offsets in parts for offset in offsets)


# -- what a record looks like


def test_every_column_of_a_record(read: Callable[..., Any], topic: str, wire: Wire) -> None:
    headers = [("a", b"1"), ("a", b"2"), ("b", None)]
    records = [
        Record(b"value", b"key", NOON_MS, headers),
        Record(None, b"gone", NOON_MS + 1),
        Record(b"", None, NOON_MS + 2),
    ]
    control.produce(wire, topic, batches.build(records))
    rows = read(subscribe=topic, includeHeaders=True).orderBy("offset").collect()
    assert [(row.key, row.value, row.offset) for row in rows] == [
        (b"key", b"value", 0),
        (b"gone", None, 1),
        (None, b"", 2),
    ]
    assert {(row.topic, row.partition, row.timestampType) for row in rows} == {(topic, 0, 0)}
    assert rows[0].timestamp == datetime.fromtimestamp(NOON_MS / 1000, UTC).replace(tzinfo=None)
    assert [(header.key, header.value) for header in rows[0].headers] == headers
    assert rows[1].headers is None


def test_time_of_append_is_told(read: Callable[..., Any], make_topic: Callable[..., str], wire: Wire) -> None:
    topic = make_topic(configs={"message.timestamp.type": "LogAppendTime"})
    before_s = now_ms() // 1000
    control.produce(wire, topic, batches.values(b"0", b"1"))
    rows = read(subscribe=topic).select("timestampType", F.col("timestamp").cast("long").alias("second")).collect()
    assert {row.timestampType for row in rows} == {1}
    assert all(before_s <= row.second <= now_ms() // 1000 for row in rows)


# -- where to start and end


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, everything((0, range(10)), (1, range(10)))),
        ({"startingOffsets": {"0": 3, "1": -2}}, everything((0, range(3, 10)), (1, range(10)))),
        ({"endingOffsets": {"0": 2, "1": -1}}, everything((0, range(2)), (1, range(10)))),
        ({"startingTimestamp": NOON_MS + 4500}, everything((0, range(5, 10)), (1, range(5, 10)))),
        ({"endingTimestamp": NOON_MS + 2000}, everything((0, range(2)), (1, range(2)))),
        ({"endingTimestamp": NOON_MS + 99_000}, everything((0, range(10)), (1, range(10)))),
        (
            {"startingOffsetsByTimestamp": {"0": NOON_MS + 8000, "1": NOON_MS}},
            everything((0, range(8, 10)), (1, range(10))),
        ),
        (
            {"endingOffsetsByTimestamp": {"0": NOON_MS + 1, "1": NOON_MS + 99_000}},
            everything((0, range(1)), (1, range(10))),
        ),
    ],
    ids=lambda value: next(iter(value), "all") if isinstance(value, dict) else "",
)
def test_range_of_a_batch(
    read: Callable[..., Any], timed: str, options: dict[str, Any], expected: list[tuple[int, int]]
) -> None:
    given = {name: json.dumps({timed: value}) if isinstance(value, dict) else value for name, value in options.items()}
    assert places(read(subscribe=timed, **given)) == expected


def test_start_after_the_last_record_is_an_error_unless_allowed(read: Callable[..., Any], timed: str) -> None:
    late = {"subscribe": timed, "startingTimestamp": NOON_MS + 99_000}
    with pytest.raises(FAILURES):
        read(**late).count()
    assert read(**late, startingOffsetsByTimestampStrategy="latest").count() == 0


def test_out_of_order_times_are_searched_by_offset(read: Callable[..., Any], topic: str, wire: Wire) -> None:
    times = [500, 100, 900, 300, 700]
    control.produce(wire, topic, batches.build([Record(timestamp_ms=NOON_MS + time) for time in times]))
    assert places(read(subscribe=topic, startingTimestamp=NOON_MS + 600)) == everything((0, range(2, 5)))


def test_pattern_and_assignment_choose_topics(
    read: Callable[..., Any], broker: Broker, fresh: Callable[[str], str], wire: Wire
) -> None:
    prefix = fresh("pattern")
    for suffix in ("one", "two", "other"):
        control.create_topic(wire, f"{prefix}-{suffix}", 2)
        control.produce(wire, f"{prefix}-{suffix}", batches.values(b"0", b"1"), 1)
    assert read(subscribePattern=f"{prefix}-(one|two)").count() == 4
    assert read(subscribe=f"{prefix}-one,{prefix}-other").count() == 4
    assert read(assign=json.dumps({f"{prefix}-one": [0], f"{prefix}-two": [1]})).count() == 2
    assert read(subscribePattern=f"{prefix}-nothing.*").count() == 0


def test_unknown_topic_is_an_error(read: Callable[..., Any], fresh: Callable[[str], str], wire: Wire) -> None:
    topic = fresh("topic")
    with pytest.raises(FAILURES):
        read(subscribe=topic, **{"fetchoffset.numretries": 1, "fetchoffset.retryintervalms": 10}).count()
    assert control.metadata(wire, topic).error_code == 3, "asking must not create it"


def test_deleted_records_are_skipped(read: Callable[..., Any], timed: str, wire: Wire) -> None:
    control.delete_records(wire, timed, 6)
    assert places(read(subscribe=timed)) == everything((0, range(6, 10)), (1, range(10)))
    lost = {"startingOffsets": json.dumps({timed: {"0": 2, "1": 8}})}
    with pytest.raises(FAILURES):
        read(subscribe=timed, failOnDataLoss=True, **lost).count()
    assert places(read(subscribe=timed, failOnDataLoss=False, **lost)) == everything((0, range(6, 10)), (1, [8, 9]))


def test_holes_of_a_compacted_topic_are_passed_over(
    read: Callable[..., Any], make_topic: Callable[..., str], wire: Wire
) -> None:
    topic = make_topic(configs=compaction.EAGER)
    for number in range(40):
        control.produce(wire, topic, compaction.keyed(b"%d" % (number % 3), b"%d" % number))
    compaction.wait_for_compaction(wire, topic, 37)
    before = {(0, offset) for offset, _, _ in compaction.remaining(wire, topic)}
    seen = places(read(subscribe=topic, endingOffsets=json.dumps({topic: {"0": 40}}), minPartitions=4))
    assert seen == [(0, 37), (0, 38), (0, 39)]
    assert set(seen) <= set(places(read(subscribe=topic))) <= before, "compaction only ever takes away"


# -- writing


def test_million_records_are_counted_exactly(
    spark: SparkSession,
    read: Callable[..., Any],
    broker: Broker,
    make_topic: Callable[..., str],
    show: Callable[[str], None],
) -> None:
    topic = make_topic(4)
    write(spark.range(MILLION).selectExpr("cast(id % 1000 as string) key", "cast(id as string) value"), broker, topic)
    numbers = read(subscribe=topic, minPartitions=8).select(F.col("value").cast("string").cast("long").alias("n"))
    row = numbers.agg(F.count("n").alias("count"), F.sum("n").alias("sum"), F.max("n").alias("max")).first()
    assert row is not None
    show(f"Spark wrote 1,000,000 records and read back {row['count']:,}")
    assert (row["count"], row["sum"], row["max"]) == (MILLION, MILLION * (MILLION - 1) // 2, MILLION - 1)
    assert numbers.distinct().count() == MILLION


def write(frame: DataFrame, broker: Broker, topic: str | None = None) -> None:
    options = {"kafka.bootstrap.servers": broker.address, **({"topic": topic} if topic else {})}
    frame.write.format("kafka").options(**options).save()


def test_partition_is_split_among_tasks(read: Callable[..., Any], topic: str, wire: Wire) -> None:
    control.produce(wire, topic, batches.values(*(b"%d" % n for n in range(1000))))
    split = read(subscribe=topic, minPartitions=7)
    assert split.rdd.getNumPartitions() >= 7
    assert places(split) == everything((0, range(1000)))


def test_rows_choose_topic_partition_and_headers(
    spark: SparkSession, read: Callable[..., Any], broker: Broker, make_topic: Callable[..., str]
) -> None:
    topic = make_topic(3)
    rows = [(topic, 2, b"k", b"v", [("h", b"1"), ("h", None)]), (topic, 0, None, None, None)]
    columns = "topic string, partition int, key binary, value binary, headers array<struct<key:string,value:binary>>"
    write(spark.createDataFrame(rows, columns), broker)
    back = {row.partition: row for row in read(subscribe=topic, includeHeaders=True).collect()}
    assert [(back[2].key, back[2].value), (back[0].key, back[0].value)] == [(b"k", b"v"), (None, None)]
    assert [(header.key, header.value) for header in back[2].headers] == [("h", b"1"), ("h", None)]


def test_write_creates_the_topic(
    spark: SparkSession, read: Callable[..., Any], broker: Broker, fresh: Callable[[str], str]
) -> None:
    topic = fresh("topic")
    write(spark.range(5).selectExpr("cast(id as string) value"), broker, topic)
    assert read(subscribe=topic).count() == 5


def test_message_above_the_topics_limit_is_an_error(
    spark: SparkSession, broker: Broker, make_topic: Callable[..., str], wire: Wire
) -> None:
    topic = make_topic(configs={"max.message.bytes": "1000"})
    with pytest.raises(FAILURES):
        write(spark.range(1).selectExpr("repeat('x', 5000) value"), broker, topic)
    assert control.end_offset(wire, topic) == 0
