"""Latency: one request at a time, at a fixed rate, and from producer to consumer.

At a fixed rate the clock starts when a request is due and not when it could be sent, so a broker that stalls does not
hide the requests that it held up.
"""

import gc
import select
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import Final

from bench.versus.brokers import Broker
from bench.versus.wire import Batch, Topic, Wire, decoded, fetch_request, frame, make_batch, produce_frame
from kafkish_protocol.api import ApiKey

PERCENTILES: Final = {"p50 ms": 0.50, "p95 ms": 0.95, "p99 ms": 0.99, "p99.9 ms": 0.999}
ALL: Final = -1
VALUE_BYTES: Final = 1_000


def percentiles(latencies_s: Sequence[float]) -> dict[str, float]:
    """In milliseconds. The first tenth does not count: it pays for files and connections that are new."""
    ordered = sorted(latencies_s[len(latencies_s) // 10 :])
    return {name: ordered[int(part * (len(ordered) - 1))] * 1000 for name, part in PERCENTILES.items()}


@contextmanager
def no_collections() -> Iterator[None]:
    """Pauses of this process are not the broker's."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def one_at_a_time(wire: Wire, frames: Sequence[bytes], seconds: float, at_most: int = 1 << 62) -> list[float]:
    """Send, wait for the reply, send the next."""
    found: list[float] = []
    with no_collections():
        deadline_s = time.perf_counter() + seconds
        for data in cycle(frames):
            start_s = time.perf_counter()
            if start_s > deadline_s or len(found) >= at_most:
                break
            wire.socket.sendall(data)
            wire.frame()
            found.append(time.perf_counter() - start_s)
    return found


def single(topic: Topic, batch: Batch | None = None) -> list[bytes]:
    """A request with one record for each partition."""
    record = batch or make_batch(VALUE_BYTES, 0)
    return [produce_frame(topic, [index], record, ALL) for index in range(topic.partitions)]


class Paced:
    """One producer at a fixed rate, and perhaps a consumer that waits for what it sends."""

    def __init__(self, broker: Broker, topic: Topic, rate_per_s: float) -> None:
        self._topic, self._interval_s = topic, 1 / rate_per_s
        self._producer, self._consumer = Wire(broker.address), Wire(broker.address)
        batch = make_batch(VALUE_BYTES, 0)
        self._batch_bytes = len(batch.data)
        [self._data] = single(topic, batch)
        self._due_s: list[float] = []
        self._acked = self._read = 0
        self.produce_s: list[float] = []
        self.end_to_end_s: list[float] = []

    def run(self, seconds: float) -> None:
        """Until all that was due has been acknowledged and read."""
        total = int(seconds / self._interval_s)
        with no_collections():
            start_s = time.perf_counter()
            self._fetch()
            while self._acked < total or self._read < total:
                due_s = start_s + len(self._due_s) * self._interval_s
                if len(self._due_s) < total and due_s <= time.perf_counter():
                    self._due_s.append(due_s)
                    self._producer.socket.sendall(self._data)
                    continue
                self._listen(due_s - time.perf_counter() if len(self._due_s) < total else 1.0)
        self._producer.close()
        self._consumer.close()

    def _listen(self, timeout_s: float) -> None:
        producer, consumer = self._producer.socket, self._consumer.socket
        ready, _, _ = select.select([producer, consumer], [], [], max(0.0, timeout_s))
        now_s = time.perf_counter()
        if producer in ready:
            self._producer.frame()
            self.produce_s.append(now_s - self._due_s[self._acked])
            self._acked += 1
        if consumer in ready:
            self._take_records(now_s)

    def _take_records(self, now_s: float) -> None:
        [topic] = decoded(ApiKey.FETCH, self._consumer.frame()).responses or [None]
        found = len(topic.partitions[0].records or b"") // self._batch_bytes if topic else 0
        self.end_to_end_s += [now_s - due_s for due_s in self._due_s[self._read : self._read + found]]
        self._read += found
        self._fetch()

    def _fetch(self) -> None:
        self._consumer.socket.sendall(frame(fetch_request(self._topic, {0: self._read}, 1 << 20)))
