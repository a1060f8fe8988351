"""Metrics are plain numbers, and Prometheus can read them."""

import urllib.request

from prometheus_client.parser import text_string_to_metric_families

from kafkish.metrics import Exporter, Histogram, Metrics


def scraped(metrics: Metrics) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    exporter = Exporter(metrics, "127.0.0.1", 0)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{exporter.port}/metrics", timeout=10) as response:
            text = response.read().decode()
    finally:
        exporter.stop()
    families = text_string_to_metric_families(text)
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


def test_scrape_shows_counters_histograms_and_gauges() -> None:
    metrics = Metrics()
    metrics.counter("requests", "Requests answered", api="Fetch").add()
    metrics.counter("requests", "Requests answered", api="Fetch").add(2)
    metrics.counter("requests", "Requests answered", api="Produce").add()
    latency = metrics.histogram("latency_seconds", "Time to answer", api="Fetch")
    for value in (0.00005, 0.0001, 0.03, 99):
        latency.observe(value)
    metrics.gauge("log_bytes", "Bytes on disk", lambda: [(("t", "0"), 12.0), (("t", "1"), 5.0)], "topic", "partition")
    metrics.gauge("connections", "Open connections", lambda: [((), 3)])
    seen = scraped(metrics)
    assert seen["requests_total", (("api", "Fetch"),)] == 3
    assert seen["requests_total", (("api", "Produce"),)] == 1
    assert seen["latency_seconds_bucket", (("api", "Fetch"), ("le", "0.0001"))] == 2
    assert seen["latency_seconds_bucket", (("api", "Fetch"), ("le", "0.05"))] == 3
    assert seen["latency_seconds_count", (("api", "Fetch"),)] == 4
    assert seen["log_bytes", (("partition", "1"), ("topic", "t"))] == 5
    assert seen["connections", ()] == 3


def test_bound_belongs_to_its_bucket() -> None:
    histogram = Histogram((1, 2))
    for value in (0, 1, 1.5, 2, 2.1):
        histogram.observe(value)
    assert list(histogram.cumulative()) == [("1.0", 2), ("2.0", 4), ("+Inf", 5)]
