"""What is measured: each row is a name, the figures that it gives for a broker, and what is aimed at.

A figure is a number with its unit in its name. The aim is a ratio to Apache Kafka, in the same run.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Final

from bench.versus.brokers import Broker
from bench.versus.latency import ALL, VALUE_BYTES, Paced, one_at_a_time, percentiles, single
from bench.versus.load import FetchLane, Lane, Moved, ProduceLane, close, drive
from bench.versus.wire import TIMEOUT_S, Batch, Topic, Wire, make_batch

Figures = dict[str, float]
THROUGHPUT: Final = {"MB/s": 1.0, "CPU s/GB": 1.0, "memory MB": 1 / 4}
LATENCY: Final = {"p50 ms": 1.0, "p99 ms": 1.0}
PRODUCE: Final = "produce "
END_TO_END: Final = "end to end "
MORE_IS_BETTER: Final = ("MB/s", "requests/s")
LOAD_CPU: Final = "load generator CPU %"
BATCH_BYTES: Final = 16_384  # of a partition, as Kafka's producers make them
PRODUCERS: Final = 4

_numbers = count()


@dataclass(frozen=True)
class Sizes:
    """How much of everything: the full bench, the quick one, and what tests can afford."""

    seconds: float
    latency_s: float
    rounds: int
    warm_up_s: float
    limit_bytes: int
    topics: int
    consumers: int = 1_000
    connections: int = 500
    members: int = 50
    records: int = 1_000_000


@dataclass(frozen=True)
class Row:
    """One line of the report, or several: one for each figure."""

    name: str
    measure: Callable[[Broker, Sizes], Figures]
    aims: dict[str, float] = field(default_factory=dict)
    quick: bool = False
    """Whether it is part of the quick bench."""


@contextmanager
def topic_of(broker: Broker, partitions: int) -> Iterator[tuple[Wire, Topic]]:
    """A new topic, until the block ends."""
    wire = Wire(broker.address)
    topic = wire.create(f"bench-{next(_numbers)}", partitions)
    try:
        yield wire, topic
    finally:
        wire.delete(topic)
        wire.close()


def usage(broker: Broker, cpu_s: float, moved: Moved) -> Figures:
    """Throughput, and what it cost."""
    cpu_per_gb = (broker.cpu_s() - cpu_s) / (moved.value_bytes / 1e9)
    figures = {"MB/s": moved.mb_per_s, "CPU s/GB": cpu_per_gb, "memory MB": broker.resident_mb()}
    if moved.load_cpu_s is not None:
        figures[LOAD_CPU] = moved.load_cpu_s / moved.seconds * 100
    return figures


# -- throughput


def producers(broker: Broker, topic: Topic, batch: Batch, acks: int) -> list[Lane]:
    return [ProduceLane(broker.address, topic, batch, acks) for _ in range(PRODUCERS)]


def produce(
    broker: Broker, sizes: Sizes, *, value_bytes: int, acks: int, partitions: int, codec: str = "none"
) -> Figures:
    """Batches of 16 kB from four connections, five requests in flight on each."""
    with topic_of(broker, partitions) as (wire, topic):
        batch = make_batch(value_bytes, BATCH_BYTES, codec)
        lanes = producers(broker, topic, batch, acks)
        drive(lanes, TIMEOUT_S, 2 * PRODUCERS * partitions * batch.value_bytes)  # the first append opens files
        cpu_s = broker.cpu_s()
        moved = drive(lanes, sizes.seconds, sizes.limit_bytes)
        figures = usage(broker, cpu_s, moved)
        close(lanes)
        stored, acked = sum(wire.end_offsets(topic)), sum(lane.records for lane in lanes)
        assert stored == acked, f"{broker.name} has {stored} records of {acked} that it acknowledged"
    return figures


def consumers(broker: Broker, topic: Topic, batch: Batch) -> list[FetchLane]:
    """Up to six, which share the partitions."""
    number = min(topic.partitions, 6)
    shares = [range(first, topic.partitions, number) for first in range(number)]
    return [FetchLane(broker.address, topic, share, batch) for share in shares]


def consume(broker: Broker, sizes: Sizes, *, value_bytes: int, partitions: int, cold: bool = False) -> Figures:
    """From the first record to the last: again and again, or once if they are to come from the disk."""
    batch = make_batch(value_bytes, BATCH_BYTES)
    with topic_of(broker, partitions) as (wire, topic):
        filling = producers(broker, topic, batch, ALL)
        drive(filling, sizes.seconds * 10, sizes.limit_bytes)
        close(filling)
        if cold:
            broker.forget_pages(topic.name)
        lanes, ends = consumers(broker, topic, batch), wire.end_offsets(topic)
        for lane in lanes:
            lane.ends, lane.again = ends, not cold
        cpu_s = broker.cpu_s()
        moved = drive(lanes, sizes.seconds * 10 if cold else sizes.seconds)
        figures = usage(broker, cpu_s, moved)
        close(lanes)
    return figures


def produce_and_consume(broker: Broker, sizes: Sizes, *, value_bytes: int, partitions: int) -> Figures:
    """Consumers read what producers write meanwhile; both count."""
    batch = make_batch(value_bytes, BATCH_BYTES)
    with topic_of(broker, partitions) as (_, topic):
        writers = producers(broker, topic, batch, ALL)
        drive(writers, TIMEOUT_S, 2 * PRODUCERS * partitions * batch.value_bytes)
        lanes = [*consumers(broker, topic, batch), *writers]
        cpu_s = broker.cpu_s()
        moved = drive(lanes, sizes.seconds, 2 * sizes.limit_bytes)
        figures = usage(broker, cpu_s, moved)
        close(lanes)
    return figures


# -- latency


def latency_one_at_a_time(broker: Broker, sizes: Sizes) -> Figures:
    with topic_of(broker, 1) as (wire, topic):
        return percentiles(one_at_a_time(wire, single(topic), sizes.latency_s))


def latency_paced(broker: Broker, sizes: Sizes, *, rate_per_s: float) -> Figures:
    """To the acknowledgement and to the consumer."""
    with topic_of(broker, 1) as (_, topic):
        paced = Paced(broker, topic, rate_per_s)
        paced.run(sizes.latency_s)
    figures = {PRODUCE: percentiles(paced.produce_s), END_TO_END: percentiles(paced.end_to_end_s)}
    return {which + name: value for which, found in figures.items() for name, value in found.items()}


# -- the rows


def produce_rows() -> Iterator[Row]:
    """Every size with every acks, number of partitions and codec."""
    names = {100: "100 B", 1_000: "1 KB", 10_000: "10 KB"}
    for value_bytes, size in names.items():
        for acks, word in {1: "acks 1", ALL: "acks all"}.items():
            for partitions in (1, 6, 100):
                for codec in ("none", "lz4", "zstd"):
                    measure = partial(produce, value_bytes=value_bytes, acks=acks, partitions=partitions, codec=codec)
                    plural = "partition" if partitions == 1 else "partitions"
                    name = f"produce {size}, {word}, {partitions} {plural}, {codec}"
                    aims = THROUGHPUT if value_bytes < 10_000 else {}
                    differs = (acks != ALL) + (partitions != 6) + (codec != "none")
                    yield Row(name, measure, aims, quick=not differs or (value_bytes == VALUE_BYTES and differs == 1))


def consume_rows() -> Iterator[Row]:
    for value_bytes, size in {100: "100 B", 1_000: "1 KB", 10_000: "10 KB"}.items():
        aims = THROUGHPUT if value_bytes < 10_000 else {}
        for partitions in (1, 6, 100):
            measure = partial(consume, value_bytes=value_bytes, partitions=partitions)
            quick = partitions == 6 and value_bytes < 10_000
            yield Row(f"consume hot {size}, {partitions} partitions", measure, aims, quick=quick)
        cold = partial(consume, value_bytes=value_bytes, partitions=6, cold=True)
        yield Row(f"consume cold {size}, 6 partitions", cold, aims, quick=value_bytes == VALUE_BYTES)
        together = partial(produce_and_consume, value_bytes=value_bytes, partitions=6)
        yield Row(f"produce and consume {size}, 6 partitions", together, aims, quick=value_bytes == VALUE_BYTES)


def latency_rows() -> Iterator[Row]:
    yield Row("latency one at a time, 1 KB, acks all", latency_one_at_a_time, LATENCY, quick=True)
    for rate_per_s in (100, 500, 2_000):
        measure = partial(latency_paced, rate_per_s=rate_per_s)
        aims = {which + name: aim for which in (PRODUCE, END_TO_END) for name, aim in LATENCY.items()}
        yield Row(f"latency at {rate_per_s:,}/s, 1 KB, acks all", measure, aims, quick=rate_per_s == 500)


def warm_up(broker: Broker, seconds: float) -> None:
    """A little of everything that later rows do, until the time is over."""
    deadline_s = time.monotonic() + seconds
    slice_s = min(1.0, seconds / 4)
    sizes = Sizes(slice_s, slice_s, rounds=1, warm_up_s=0, limit_bytes=100_000_000, topics=0)
    while time.monotonic() < deadline_s:
        produce(broker, sizes, value_bytes=VALUE_BYTES, acks=ALL, partitions=6)
        consume(broker, sizes, value_bytes=100, partitions=6)
        latency_one_at_a_time(broker, sizes)
        latency_paced(broker, sizes, rate_per_s=500)
