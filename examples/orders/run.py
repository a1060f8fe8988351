"""The example from end to end: write a shop's day, run the pipeline, draw it, and check it against plain Python.

python examples/orders/run.py [--bootstrap HOST:PORT] [--orders 200000]
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import shop
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from picture import draw
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from kafkish.pipelines.embedded import start_embedded_broker
from kafkish.pipelines.errors import PipelineError
from kafkish.pipelines.reading import read_pipeline
from kafkish.pipelines.requirements import require_reachable, require_spark
from kafkish.pipelines.run import run_with
from kafkish.pipelines.session import spark_session

HERE = Path(__file__).parent
OUT = HERE / "out"
TOPICS = ("orders", "payments", "unpaid-orders")
PARTITIONS = 3


def main() -> int:
    """Run all of it; 0 when every figure is right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bootstrap", default="", metavar="HOST:PORT", help="a broker; without it, one is started")
    parser.add_argument(
        "--orders", type=int, default=200_000, metavar="N", help="how many orders (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=7, help="another seed is another day (default: %(default)s)")
    parser.add_argument("--master", default="local[2]", metavar="URL", help="where Spark runs (default: %(default)s)")
    options = parser.parse_args()
    try:
        require_spark()
        with broker(options.bootstrap) as bootstrap:
            return run(bootstrap, options)
    except PipelineError as error:
        print(error, file=sys.stderr)
        return 2


@contextmanager
def broker(bootstrap: str) -> Iterator[str]:
    """The broker that was named, or a kafkish of our own with a directory of its own."""
    with ExitStack() as stack:
        if not bootstrap:
            directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="kafkish-orders-"))
            bootstrap = stack.enter_context(start_embedded_broker(Path(directory)))
        require_reachable(bootstrap)
        yield bootstrap


def run(bootstrap: str, options: argparse.Namespace) -> int:
    """Write, run, draw, check."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    day = shop.orders(options.orders, options.seed)
    write(bootstrap, day, options.seed)
    pipeline = read_pipeline(HERE / "orders.yaml")
    with spark_session("orders", options.master, {}, OUT / "spark.log") as spark:
        started = time.monotonic()
        good = run_with(spark, pipeline, bootstrap)
        print(f"the pipeline took {time.monotonic() - started:.1f} s")
        found = read_back(spark, bootstrap)
        bad_records = spark.read.parquet(str(OUT / "bad-orders")).count()
    draw(found, OUT / "revenue.png")
    return 0 if check(found, shop.expected(day), bad_records) and good else 1


def write(bootstrap: str, day: list[shop.Order], seed: int) -> None:
    """Make the topics and write the day."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    try:
        for made in admin.create_topics([NewTopic(name, PARTITIONS) for name in TOPICS[:2]]).values():
            made.result()
    except KafkaException as error:
        raise PipelineError(f"{error.args[0].str()} Delete {', '.join(TOPICS)} on {bootstrap} first.") from None
    started, failures = time.monotonic(), []
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20, "queue.buffering.max.messages": 1_000_000})
    for count, record in enumerate(shop.records(day, seed)):
        if count % 10_000 == 0:
            producer.poll(0)
        producer.produce(
            record.topic, record.value, record.key, on_delivery=lambda error, _: error and failures.append(error)
        )
    left = producer.flush(60)
    if left or failures:
        raise PipelineError(f"{left + len(failures)} records were not written: {failures[:1]}")
    print(f"wrote {count + 1:,} records of {len(day):,} orders in {time.monotonic() - started:.1f} s")


def read_back(spark: SparkSession, bootstrap: str) -> shop.Figures:
    """What the pipeline wrote: the Parquet table, and the topic of unpaid orders."""
    figures = shop.Figures()
    table = spark.read.parquet(str(OUT / "revenue")).withColumn("start_ms", F.unix_millis("window_start"))
    for row in table.collect():
        figures.orders[row.start_ms, row.country] = row.orders
        figures.revenue_cents[row.start_ms, row.country] = row.revenue_cents
    figures.unpaid = set(read_keys(bootstrap, "unpaid-orders"))
    return figures


def read_keys(bootstrap: str, topic: str) -> list[str]:
    """The keys of a topic's records."""
    settings = {"group.id": "orders-example", "auto.offset.reset": "earliest", "enable.partition.eof": True}
    consumer = Consumer({"bootstrap.servers": bootstrap, "enable.auto.commit": False, **settings})
    consumer.subscribe([topic])
    keys = []
    while (message := consumer.poll(30)) is not None and message.error() is None:
        keys.append(message.key().decode())
    consumer.close()
    return keys


def check(found: shop.Figures, expected: shop.Figures, bad_records: int) -> bool:
    """Compare every figure with the pass in plain Python."""
    lines = {
        f"{len(expected.orders)} windows": (dict(found.orders), dict(expected.orders)),
        f"revenue of {sum(expected.revenue_cents.values()) / 100:,.2f}": (found.revenue_cents, expected.revenue_cents),
        f"{len(expected.unpaid):,} unpaid orders": (found.unpaid, expected.unpaid),
        f"{len(shop.BROKEN) * 20} records in quarantine": (bad_records, len(shop.BROKEN) * 20),
    }
    for name, (ours, plain) in lines.items():
        print(f"{'equal' if ours == plain else 'DIFFERENT'}  {name}")
    per_country = Counter[str]()
    for (_, country), cents in found.revenue_cents.items():
        per_country[country] += cents
    print(
        "revenue by country: "
        + ", ".join(f"{country} {cents / 100:,.2f}" for country, cents in per_country.most_common())
    )
    return all(ours == plain for ours, plain in lines.values())


if __name__ == "__main__":
    sys.exit(main())
