"""The same work by clients that people use: librdkafka, and the perf tools of Apache Kafka, in a JVM of their own.

These clients are often the limit. Their rows say what a user sees, not what the broker could do.
"""

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from bench.versus.brokers import Broker, apache_kafka
from bench.versus.load import Moved
from bench.versus.rows import THROUGHPUT, Figures, Row, Sizes, topic_of, usage
from bench.versus.wire import Topic

PARTITIONS: Final = 6
MAX_CLIENT_BYTES: Final = 300_000_000
JVM: Final = ["-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"]


def records_of(sizes: Sizes, value_bytes: int) -> int:
    """As many as asked for, but not more than a disk can take many times."""
    return min(sizes.records, MAX_CLIENT_BYTES // value_bytes)


# -- librdkafka


def librdkafka_produce(broker: Broker, topic: Topic, count: int, value_bytes: int) -> Moved:
    """Idempotent, as the Java producer is when nobody says otherwise."""
    producer = Producer({
        "bootstrap.servers": broker.address, "enable.idempotence": True, "linger.ms": 5,
        "queue.buffering.max.messages": 500_000,
    })  # fmt: skip
    failed: list[Any] = []

    def delivered(error: Any, _: Any) -> None:
        if error is not None:
            failed.append(error)

    value, start_s = bytes(value_bytes), time.perf_counter()
    for _ in range(count):
        while True:
            with suppress(BufferError):
                producer.produce(topic.name, value, on_delivery=delivered)
                break
            producer.poll(0.1)
    producer.flush(120)
    took_s = time.perf_counter() - start_s
    assert not failed, failed[0]
    return Moved(took_s, count * value_bytes, count)


def librdkafka_consume(broker: Broker, topic: Topic, count: int, value_bytes: int) -> Moved:
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": "bench", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic.name, number, OFFSET_BEGINNING) for number in range(topic.partitions)])
    seen, start_s = 0, time.perf_counter()
    while seen < count:
        messages = consumer.consume(min(1_000, count - seen), timeout=30)
        assert messages, f"{broker.name} gave {seen} records of {count}, and then nothing for 30 s"
        seen += sum(message.error() is None for message in messages)
    took_s = time.perf_counter() - start_s
    consumer.close()
    return Moved(took_s, count * value_bytes, count)


# -- Kafka's perf tools


def java(tool: str, *arguments: str) -> str:
    """What a tool prints."""
    command = ["java", *JVM, "-cp", f"{apache_kafka.jars()}/*", f"org.apache.kafka.tools.{tool}", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=600).stdout


def java_produce(broker: Broker, topic: Topic, count: int, value_bytes: int) -> Moved:
    amount = ["--num-records", str(count), "--record-size", str(value_bytes), "--throughput", "-1"]
    printed = java("ProducerPerformance", "--bootstrap-server", broker.address, "--topic", topic.name, *amount)
    rates = re.findall(r"([\d.]+) records/sec", printed)
    assert rates, printed[-500:]
    return Moved(count / float(rates[-1]), count * value_bytes, count)


def java_consume(broker: Broker, topic: Topic, count: int, value_bytes: int) -> Moved:
    """Without the time that it takes to join a group, which the tool tells apart."""
    place = ["--bootstrap-server", broker.address, "--topic", topic.name]
    printed = java("ConsumerPerformance", *place, "--num-records", str(count), "--timeout", "60000")
    names, values = (line.split(", ") for line in printed.splitlines()[-2:])
    fetched = dict(zip((name.strip() for name in names), values, strict=True))
    seen, fetch_s = int(fetched["data.consumed.in.nMsg"]), float(fetched["fetch.time.ms"]) / 1000
    assert seen >= count, json.dumps(fetched)
    return Moved(max(fetch_s, 0.001), seen * value_bytes, seen)


# -- rows

Work = Callable[[Broker, Topic, int, int], Moved]


def measure(broker: Broker, sizes: Sizes, *, work: Work, value_bytes: int, before: Work | None = None) -> Figures:
    """A topic of its own; `before` fills it, off the clock."""
    count = records_of(sizes, value_bytes)
    with topic_of(broker, PARTITIONS) as (_, topic):
        if before:
            before(broker, topic, count, value_bytes)
        cpu_s = broker.cpu_s()
        return usage(broker, cpu_s, work(broker, topic, count, value_bytes))


def warm_up_client(broker: Broker, sizes: Sizes) -> None:
    """The first idempotent producer has Kafka load what gives out producer ids."""
    measure(broker, sizes, work=librdkafka_produce, value_bytes=1_000)


def client_rows() -> Iterator[Row]:
    works = {"librdkafka": (librdkafka_produce, librdkafka_consume), "Java": (java_produce, java_consume)}
    for client, (produce, consume) in works.items():
        for value_bytes, size in {100: "100 B", 1_000: "1 KB", 10_000: "10 KB"}.items():
            aims = THROUGHPUT if value_bytes < 10_000 else {}
            quick = client == "librdkafka" and value_bytes == 1_000
            writing = partial(measure, work=produce, value_bytes=value_bytes)
            yield Row(f"{client}: produce {size}, acks all, 6 partitions", writing, aims, quick)
            reading = partial(measure, work=consume, value_bytes=value_bytes, before=librdkafka_produce)
            yield Row(f"{client}: consume {size}, 6 partitions", reading, aims, quick)
