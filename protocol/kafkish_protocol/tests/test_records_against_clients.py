"""Batches go both ways between this room and the two client families, through a real Apache Kafka."""

import json
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apache_kafka
import pytest
from apache_kafka import ApacheKafka
from confluent_kafka import Consumer, Producer, TopicPartition

from kafkish_protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafkish_protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafkish_protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafkish_protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkish_protocol.records import Batch, Compression, Record, build_batch, read_batches
from kafkish_protocol.tests.raw_client import RawClient

pytestmark = pytest.mark.kafka

SOURCE = str(Path(__file__).parent / "java" / "Records.java")
CODECS = list(Compression)

RECORDS = [
    Record(0, 1_700_000_000_000, b"key", b"value", [("name", b"header"), ("empty", b""), ("null", None)]),
    Record(1, 1_700_000_000_005, None, b"no key"),
    Record(2, 1_699_999_999_000, b"tombstone, and an earlier time", None),
    Record(3, 1_700_000_000_001, b"", b""),
    Record(4, 1_700_000_000_002, b"large", bytes(range(256)) * 400),
    *(Record(n, 1_700_000_000_000 + n, b"k%d" % n, b"some text, " * n, [("n", b"%d" % n)]) for n in range(5, 60)),
]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    with ApacheKafka(tmp_path_factory.mktemp("kafka")) as running:
        yield running


@pytest.fixture
def client(broker: ApacheKafka) -> Iterator[RawClient]:
    with RawClient(broker.port) as connected:
        yield connected


# -- through the broker with this room's own codec


def create_topic(client: RawClient, name: str) -> bytes:
    request = CreateTopicsRequest(
        topics=[CreatableTopic(name=name, num_partitions=1, replication_factor=1)], timeout_ms=10_000
    )
    assert client.send(request, 7).topics[0].error_code == 0
    while True:  # the broker answers before it knows its own new topic
        topic = client.send(MetadataRequest(topics=[MetadataRequestTopic(name=name)]), 13).topics[0]
        if topic.error_code == 0 and topic.partitions[0].error_code == 0:
            topic_id: bytes = topic.topic_id
            return topic_id


def fetch_batches(client: RawClient, topic_id: bytes) -> list[Batch]:
    topics = [FetchTopic(topic_id=topic_id, partitions=[FetchPartition(partition_max_bytes=10_000_000)])]  # type: ignore[arg-type]
    response = client.send(FetchRequest(max_wait_ms=100, max_bytes=10_000_000, topics=topics), 17)
    partition = response.responses[0].partitions[0]
    assert partition.error_code == 0
    return list(read_batches(partition.records))


def produce_batch(client: RawClient, topic_id: bytes, batch: bytes | bytearray) -> None:
    partitions = [PartitionProduceData(records=memoryview(batch))]
    topics = [TopicProduceData(topic_id=topic_id, partition_data=partitions)]  # type: ignore[arg-type]
    response = client.send(ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=topics), 13)
    assert response.responses[0].partition_responses[0].error_code == 0


# -- Kafka's Java clients


def run_java(*arguments: str, text: str = "") -> list[str]:
    run = subprocess.run(
        apache_kafka.java(SOURCE, *arguments), input=text, capture_output=True, text=True, check=False, timeout=180
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def to_json(record: Record) -> str:
    def text(data: bytes | None) -> str | None:
        return None if data is None else b64encode(data).decode()

    headers = [[name, text(value)] for name, value in record.headers]
    return json.dumps(
        {"timestamp": record.timestamp, "key": text(record.key), "value": text(record.value), "headers": headers}
    )


def from_json(line: str) -> Record:
    def data(text: str | None) -> bytes | None:
        return None if text is None else b64decode(text)

    read = json.loads(line)
    headers = [(name, data(value)) for name, value in read["headers"]]
    return Record(read["offset"], read["timestamp"], data(read["key"]), data(read["value"]), headers)


# -- the promises


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_batches_of_the_java_producer_are_read(broker: ApacheKafka, client: RawClient, codec: Compression) -> None:
    topic_id = create_topic(client, f"java-{codec.name}")
    lines = "".join(to_json(record) + "\n" for record in RECORDS)
    run_java("produce", broker.address, f"java-{codec.name}", codec.name.lower(), text=lines)
    check(fetch_batches(client, topic_id), codec)


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_batches_of_librdkafka_are_read(broker: ApacheKafka, client: RawClient, codec: Compression) -> None:
    topic_id = create_topic(client, f"librdkafka-{codec.name}")
    settings = {"bootstrap.servers": broker.address, "compression.codec": codec.name.lower(), "linger.ms": 1000}
    producer = Producer(settings)
    for record in RECORDS:
        producer.produce(
            f"librdkafka-{codec.name}", record.value, record.key, partition=0, timestamp=record.timestamp,
            headers=dict(record.headers),
        )  # fmt: skip
    assert producer.flush(30) == 0
    check(fetch_batches(client, topic_id), codec)


def check(batches: list[Batch], codec: Compression) -> None:
    assert {batch.compression for batch in batches} == {codec}
    assert all(batch.crc_is_valid() for batch in batches)
    assert [record for batch in batches for record in batch.records()] == RECORDS


def test_our_batches_are_read_by_the_java_consumer_and_by_librdkafka(broker: ApacheKafka, client: RawClient) -> None:
    for codec in CODECS:
        topic_id = create_topic(client, f"ours-{codec.name}")
        produce_batch(client, topic_id, build_batch(RECORDS, compression=codec))
        assert consumed_by_librdkafka(broker, f"ours-{codec.name}") == RECORDS
    topics = [word for codec in CODECS for word in (f"ours-{codec.name}", str(len(RECORDS)))]
    read = [from_json(line) for line in run_java("consume", broker.address, *topics)]
    assert read == RECORDS * len(CODECS)


def consumed_by_librdkafka(broker: ApacheKafka, topic: str) -> list[Record]:
    settings = {"bootstrap.servers": broker.address, "group.id": "unused", "check.crcs": True}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, 0, 0)])
    read: list[Record] = []
    while len(read) < len(RECORDS):
        message: Any = consumer.poll(10)
        assert message is not None
        assert message.error() is None
        headers = message.headers() or []
        read.append(Record(message.offset(), message.timestamp()[1], message.key(), message.value(), headers))
    consumer.close()
    return read
