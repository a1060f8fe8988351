"""A topic to Parquet by Spark: the same job, on kafkish and on Apache Kafka, in one run.

The brokers run at the same time and hold the same records; the rounds go in turns, and the best round of each counts,
because machines are noisy. One Spark serves all rounds, and a first small round warms it.

    make bench-archive
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from kafkish.pipelines.embedded import start_embedded_broker
from kafkish.pipelines.reading import read_pipeline
from kafkish.pipelines.run import run_with
from kafkish.pipelines.session import spark_session
from kafkish.tests.pipelines.topics import Record, Topics

sys.path.insert(0, str(Path(__file__).parents[1] / "compat-tests"))

import apache_kafka

PARTITIONS = 4


def main() -> int:
    """Write the same records to both, archive them in turns, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--bytes", type=int, default=200, metavar="N", help="of a value (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    options = parser.parse_args()
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kafkish-bench-")))
        brokers = {
            "kafkish": Topics(stack.enter_context(start_embedded_broker(directory / "kafkish"))),
            "Apache Kafka": Topics(stack.enter_context(apache(directory / "kafka"))),
        }
        spark = stack.enter_context(spark_session("bench", "local[2]", {}, directory / "spark.log"))
        best = measure(spark, brokers, directory, options)
    print_table(best, options.records, options.bytes)
    return 0


@contextmanager
def apache(directory: Path) -> Iterator[str]:
    """Apache Kafka, until the block ends."""
    directory.mkdir()
    kafka = apache_kafka.ApacheKafka(directory)
    try:
        kafka.wait_until_ready()
        yield kafka.address
    finally:
        kafka.stop()


def measure(
    spark: SparkSession, brokers: dict[str, Topics], directory: Path, options: argparse.Namespace
) -> dict[str, float]:
    """The best time of each, in seconds."""
    best: dict[str, float] = {}
    full: dict[str, str] = {}
    for name, topics in brokers.items():
        small, full[name] = topics.make("small", PARTITIONS), topics.make("full", PARTITIONS)
        topics.write(small, records(10_000, options.bytes))
        topics.write(full[name], records(options.records, options.bytes))
        archive(spark, topics.address, small, directory / f"{name}-warm")
    for round in range(options.rounds):
        for name, topics in brokers.items():
            elapsed = archive(spark, topics.address, full[name], directory / f"{name}-{round}")
            print(f"round {round + 1}: {name} {elapsed:.1f} s", flush=True)
            best[name] = min(elapsed, best.get(name, elapsed))
    return best


def records(count: int, value_bytes: int) -> Iterator[Record]:
    """Half of each value is new, half the same: it compresses about as orders do."""
    for number in range(count):
        value = os.urandom(value_bytes // 4).hex().encode().ljust(value_bytes, b".")
        yield Record(value, b"key-%d" % (number % 1_000))


def archive(spark: SparkSession, address: str, topic: str, directory: Path) -> float:
    """Run the job as `kafkish pipeline run` does; seconds."""
    directory.mkdir()
    file = directory / "job.yaml"
    file.write_text(
        f"name: bench\nsources: [{{name: all, topics: {topic}}}]\nsinks: [{{from: all, archive: archive}}]\n"
    )
    started = time.perf_counter()
    assert run_with(spark, read_pipeline(file), address)
    return time.perf_counter() - started


def print_table(best: dict[str, float], count: int, value_bytes: int) -> None:
    """Records and megabytes of values a second, and the ratio to Apache Kafka."""
    print(f"\narchive of {count:,} records of {value_bytes} bytes, Spark local[2], best round")
    print(f"{'broker':<14}{'records/s':>12}{'MB/s':>8}{'ratio':>8}")
    for name, seconds in best.items():
        rate = count / seconds
        megabytes = rate * value_bytes / 1e6
        print(f"{name:<14}{rate:>12,.0f}{megabytes:>8.1f}{best['Apache Kafka'] / seconds:>7.2f}x")


if __name__ == "__main__":
    sys.exit(main())
