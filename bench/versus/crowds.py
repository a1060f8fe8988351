"""Many of something: idle consumers, connections, topics; and the start of a broker."""

import resource
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from bench.versus.brokers import MAKERS, Broker
from bench.versus.groups import rebalance
from bench.versus.latency import ALL, percentiles
from bench.versus.load import Lane, close, drive
from bench.versus.rows import LATENCY, Figures, Row, Sizes, topic_of
from bench.versus.wire import Wire, fetch_request, frame, make_batch, produce_frame

PARTITIONS: Final = 10
IDLE_S: Final = 2


def raise_file_limit() -> None:
    """Thousands of sockets need it."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


# -- connections


class SameFrame(Lane):
    """Asks the same again and again, one request at a time."""

    def __init__(self, address: str, data: bytes) -> None:
        super().__init__(address, buffer_bytes=4096)
        self._data = data
        self._sent_s = 0.0
        self.latencies_s: list[float] = []

    def next_frame(self) -> bytes:
        self._sent_s = time.perf_counter()
        return self._data

    def take(self, start: int) -> None:  # noqa: ARG002  # only the time of a reply matters
        self.latencies_s.append(time.perf_counter() - self._sent_s)


def idle_consumers(broker: Broker, sizes: Sizes) -> Figures:
    """Consumers at the end of a topic that nobody writes to; each asks twice a second, as clients do."""
    with topic_of(broker, PARTITIONS) as (_, topic):
        requests = [frame(fetch_request(topic, {index: 0}, 1 << 20)) for index in range(PARTITIONS)]
        lanes = [SameFrame(broker.address, requests[n % PARTITIONS]) for n in range(sizes.consumers)]
        drive(lanes, 1.0)
        cpu_s, start_s = broker.cpu_s(), time.perf_counter()
        drive(lanes, max(2.0, sizes.seconds))
        load = (broker.cpu_s() - cpu_s) / (time.perf_counter() - start_s)
        memory_mb = broker.resident_mb()
        close(lanes)
    return {"CPU %": load * 100, "memory MB": memory_mb}


def connections(broker: Broker, sizes: Sizes) -> Figures:
    """Each sends one record of 1 KB at a time."""
    batch = make_batch(1_000, 0)
    with topic_of(broker, PARTITIONS) as (_, topic):
        requests = [produce_frame(topic, [index], batch, ALL) for index in range(PARTITIONS)]
        lanes = [SameFrame(broker.address, requests[n % PARTITIONS]) for n in range(sizes.connections)]
        drive(lanes, sizes.seconds / 4)
        for lane in lanes:
            lane.latencies_s.clear()
        moved = drive(lanes, sizes.seconds)
        close(lanes)
    found = percentiles([latency_s for lane in lanes for latency_s in lane.latencies_s])
    return {"requests/s": moved.replies / moved.seconds, "p50 ms": found["p50 ms"], "p99 ms": found["p99 ms"]}


# -- topics and starts


def create_topics(broker: Broker, sizes: Sizes) -> Figures:
    """One request for each, one after the other, each until its topic can be used."""
    wire = Wire(broker.address)
    start_s = time.perf_counter()
    topics = [wire.create(f"created-{time.monotonic_ns()}", 1) for _ in range(sizes.topics)]
    took_s = time.perf_counter() - start_s
    for topic in topics:
        wire.delete(topic)
    wire.close()
    return {"ms per topic": took_s * 1000 / sizes.topics}


_scratch = tempfile.TemporaryDirectory(prefix="kafkish-bench-")


@cache
def twin(name: str) -> Broker:
    """Another broker of the same kind, which has run once, has nothing to recover, and is not running."""
    other = MAKERS[name](Path(_scratch.name) / name.replace(" ", "-"))
    other.start()
    other.stop()
    return other


def start(broker: Broker, sizes: Sizes) -> Figures:  # noqa: ARG001  # one start takes as long as it takes
    """From nothing to an answered request; memory is read when nothing has happened for a while."""
    other = twin(broker.name)
    first_answer_ms = other.start()
    time.sleep(IDLE_S)
    idle_mb = other.resident_mb()
    other.stop()
    return {"first answer ms": first_answer_ms, "idle memory MB": idle_mb}


def crowd_rows() -> Iterator[Row]:
    yield Row("start", start, {"first answer ms": 1 / 8, "idle memory MB": 1 / 6}, quick=True)
    yield Row("idle consumers", idle_consumers, {"memory MB": 1 / 4}, quick=True)
    yield Row("connections that each send 1 KB", connections, LATENCY, quick=True)
    yield Row("rebalance of a group", rebalance, quick=True)
    yield Row("create topics", create_topics, quick=True)
