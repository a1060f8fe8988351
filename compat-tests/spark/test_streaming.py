"""Spark streams from topics and to them, and goes on from its checkpoint."""

import threading
from collections.abc import Callable
from typing import Any

import batches
import control
import pytest
from brokers import Broker
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame
from waiting import until
from wire import Wire

pytestmark = [pytest.mark.spark, pytest.mark.kafka]


class Collected:
    """What a query gave, batch by batch."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.values: list[int] = []
        self._lock = threading.Lock()

    def __call__(self, frame: DataFrame, _: int) -> None:
        rows = frame.select("value").collect()
        with self._lock:
            self.sizes.append(len(rows))
            self.values += [int(row.value) for row in rows]


@pytest.fixture
def drain(stream: Callable[..., Any], checkpoint: str) -> Callable[..., Collected]:
    """Stream all that is there now, from the checkpoint on."""

    def run(**options: Any) -> Collected:
        collected = Collected()
        source = stream(**{"startingOffsets": "earliest", **options})
        query = (
            source.writeStream.foreachBatch(collected)
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return collected

    return run


def send(wire: Wire, topic: str, numbers: range, partition: int = 0) -> None:
    control.produce(wire, topic, batches.values(*(b"%d" % n for n in numbers)), partition)


def test_available_now_reads_all_and_ends(drain: Callable[..., Collected], topic: str, wire: Wire) -> None:
    send(wire, topic, range(100))
    assert sorted(drain(subscribe=topic).values) == list(range(100))


def test_trigger_takes_no_more_than_its_limit(
    drain: Callable[..., Collected], make_topic: Callable[..., str], wire: Wire
) -> None:
    topic = make_topic(2)
    send(wire, topic, range(50), 0)
    send(wire, topic, range(50, 100), 1)
    collected = drain(subscribe=topic, maxOffsetsPerTrigger=30)
    assert sorted(collected.values) == list(range(100))
    assert len(collected.sizes) >= 4
    assert max(collected.sizes) <= 30


def test_query_goes_on_from_its_checkpoint(drain: Callable[..., Collected], topic: str, wire: Wire) -> None:
    send(wire, topic, range(10))
    assert sorted(drain(subscribe=topic).values) == list(range(10))
    send(wire, topic, range(10, 15))
    assert sorted(drain(subscribe=topic).values) == list(range(10, 15))
    assert drain(subscribe=topic).values == []


def test_added_partitions_are_read_from_zero(drain: Callable[..., Collected], topic: str, wire: Wire) -> None:
    send(wire, topic, range(5))
    drain(subscribe=topic)
    control.add_partitions(wire, topic, 2)
    send(wire, topic, range(5, 8), 1)
    assert sorted(drain(subscribe=topic).values) == [5, 6, 7]


def test_pattern_finds_topics_that_come_later(
    drain: Callable[..., Collected], fresh: Callable[[str], str], wire: Wire
) -> None:
    prefix = fresh("pattern")
    for number in range(2):
        control.create_topic(wire, f"{prefix}-{number}")
        send(wire, f"{prefix}-{number}", range(number, number + 1))
        assert drain(subscribePattern=f"{prefix}-.*").values == [number]


@pytest.mark.parametrize("fail", [True, False])
def test_records_deleted_between_two_runs_are_a_loss(
    drain: Callable[..., Collected], topic: str, wire: Wire, fail: bool
) -> None:
    send(wire, topic, range(5))
    drain(subscribe=topic)
    send(wire, topic, range(5, 10))
    control.delete_records(wire, topic, 8)
    if fail:
        with pytest.raises(StreamingQueryException):
            drain(subscribe=topic)
    else:
        assert sorted(drain(subscribe=topic, failOnDataLoss=False).values) == [8, 9]


def test_topic_made_again_is_a_loss(drain: Callable[..., Collected], fresh: Callable[[str], str], wire: Wire) -> None:
    topic = fresh("topic")
    control.create_topic(wire, topic)
    send(wire, topic, range(5))
    drain(subscribe=topic)
    control.delete_topic(wire, topic)
    control.create_topic(wire, topic)
    send(wire, topic, range(2))
    with pytest.raises(PySparkException):
        drain(subscribe=topic)


def test_running_query_sees_what_is_appended(
    stream: Callable[..., Any], checkpoint: str, topic: str, wire: Wire
) -> None:
    collected = Collected()
    source = stream(subscribe=topic, startingOffsets="latest")
    query = source.writeStream.foreachBatch(collected).option("checkpointLocation", checkpoint).start()
    try:
        until(lambda: query.lastProgress or query.exception(), "the query's first batch")
        for number in range(3):
            send(wire, topic, range(number, number + 1))
            until(lambda: len(collected.values) > number or query.exception(), f"record {number}")  # noqa: B023
    finally:
        query.stop()
    assert query.exception() is None
    assert collected.values == [0, 1, 2]


def test_stream_to_a_topic_is_exact_across_restarts_from_the_checkpoint(
    stream: Callable[..., Any],
    read: Callable[..., Any],
    broker: Broker,
    make_topic: Callable[..., str],
    checkpoint: str,
    wire: Wire,
) -> None:
    source, sink = make_topic(2), make_topic(3)
    for run in range(3):
        send(wire, source, range(run * 100, run * 100 + 50), 0)
        send(wire, source, range(run * 100 + 50, run * 100 + 100), 1)
        frame = stream(subscribe=source, startingOffsets="earliest", maxOffsetsPerTrigger=40)
        query = (
            frame.select("key", "value")
            .writeStream.format("kafka")
            .option("kafka.bootstrap.servers", broker.address)
            .option("topic", sink)
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
    values = sorted(int(row.value) for row in read(subscribe=sink).select("value").collect())
    assert values == list(range(300))
