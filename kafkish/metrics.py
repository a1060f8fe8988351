"""The only metrics registry: plain numbers that cost nanoseconds to change, shown in Prometheus' format when asked.

Rooms change counters and histograms that they hold on to, and register functions for what can be computed at the time
of a scrape. prometheus_client is imported only if an exporter is started: it turns these numbers into text, in a thread
of its own.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from prometheus_client.core import Metric

LATENCY_BUCKETS_S: Final = (
    0.0001,
    0.00025,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1,
    2.5,
    10,
)

LabelledValues = Iterable[tuple[Sequence[str], float]]


class Counter:
    """A number that grows."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def add(self, amount: float = 1) -> None:
        self.value += amount


class Histogram:
    """How often values fell into each of a row of buckets."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float] = LATENCY_BUCKETS_S) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def cumulative(self) -> Iterator[tuple[str, float]]:
        """Prometheus' form: for each bound, how many values were at most that."""
        total = 0
        for bound, count in zip((*self.bounds, float("inf")), self.counts, strict=True):
            total += count
            yield ("+Inf" if bound == float("inf") else repr(float(bound))), total


class Metrics:
    """All metrics of a node."""

    def __init__(self) -> None:
        self._counters: dict[str, tuple[str, tuple[str, ...], dict[tuple[str, ...], Counter]]] = {}
        self._histograms: dict[str, tuple[str, tuple[str, ...], dict[tuple[str, ...], Histogram]]] = {}
        self._gauges: dict[str, tuple[str, tuple[str, ...], Callable[[], LabelledValues]]] = {}

    def counter(self, name: str, help: str, **labels: str) -> Counter:
        """The counter of this name and these labels; the same one each time."""
        family = self._counters.setdefault(name, (help, tuple(labels), {}))
        return family[2].setdefault(tuple(labels.values()), Counter())

    def histogram(self, name: str, help: str, **labels: str) -> Histogram:
        """The histogram of this name and these labels; the same one each time."""
        family = self._histograms.setdefault(name, (help, tuple(labels), {}))
        return family[2].setdefault(tuple(labels.values()), Histogram())

    def gauge(self, name: str, help: str, values: Callable[[], LabelledValues], *labels: str) -> None:
        """Numbers computed at the time of a scrape, in the exporter's thread."""
        self._gauges[name] = (help, labels, values)

    def collect(self) -> "Iterator[Metric]":
        """What prometheus_client asks of a collector."""
        from prometheus_client import core  # noqa: PLC0415  # only where there is an exporter

        for name, (text, labels, counters) in list(self._counters.items()):
            counter_family = core.CounterMetricFamily(name, text, labels=labels)
            for key, counter in list(counters.items()):
                counter_family.add_metric(key, counter.value)
            yield counter_family
        for name, (text, labels, histograms) in list(self._histograms.items()):
            histogram_family = core.HistogramMetricFamily(name, text, labels=labels)
            for key, histogram in list(histograms.items()):
                histogram_family.add_metric(key, list(histogram.cumulative()), histogram.sum)
            yield histogram_family
        for name, (text, labels, values) in list(self._gauges.items()):
            gauge_family = core.GaugeMetricFamily(name, text, labels=labels)
            for label_values, value in values():
                gauge_family.add_metric(label_values, value)
            yield gauge_family


class Exporter:
    """An HTTP server that shows the metrics at /metrics, from `__init__` to `stop`."""

    def __init__(self, metrics: Metrics, host: str, port: int) -> None:
        from prometheus_client import CollectorRegistry, start_http_server  # noqa: PLC0415  # only with an exporter

        registry = CollectorRegistry()
        registry.register(metrics)
        self._server: Any
        self._server, self._thread = start_http_server(port, host, registry)
        self.port: int = self._server.server_port

    def stop(self) -> None:
        """Stop serving and give the port back."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
