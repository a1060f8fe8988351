"""What is produced comes back as it was, through every family of clients."""

from collections.abc import Callable

import batches
import control
import pytest
from batches import CODECS
from clients.families.base import CREATE_TIME, FROM_START, LOG_APPEND_TIME, ClientError, Family, Received, Record
from waiting import now_ms, until
from wire import Wire

NOON_MS = 1_700_000_000_000
COMPRESSIBLE = b"the same words again and again, " * 40


def content(records: list[Received]) -> list[tuple[bytes | None, bytes | None]]:
    return [(record.key, record.value) for record in records]


def stored_codecs(wire: Wire, topic: str, partition: int = 0) -> set[int]:
    """The codecs of the batches as the broker keeps them."""
    return {batch.compression_type for batch in batches.read(control.fetch(wire, topic, 0, partition).records)}


def test_null_is_not_empty(family: Family, topic: str) -> None:
    sent = [(None, b"no key"), (b"", b"empty key"), (b"tombstone", None), (b"empty", b""), (b"", b"")]
    placed = family.produce(topic, [Record(value, key) for key, value in sent])
    assert placed == [(0, offset) for offset in range(len(sent))]
    assert content(family.read(topic, len(sent))) == sent


def test_headers_keep_order_duplicates_and_empty_values(family: Family, topic: str) -> None:
    headers = (
        ("b", b"1"),
        ("a", b"2"),
        ("b", b"3"),
        ("b", b"1"),
        ("", b"no name"),
        ("naïve ☃", b""),
        ("a", b"\x00\xff"),
    )
    family.produce(topic, [Record(b"with", headers=headers), Record(b"without")])
    assert [record.headers for record in family.read(topic, 2)] == [headers, ()]


@pytest.mark.needs("null_headers")
def test_null_header_is_not_an_empty_one(family: Family, topic: str) -> None:
    headers = (("null", None), ("empty", b""), ("null", None))
    family.produce(topic, [Record(b"", headers=headers)])
    assert family.read(topic, 1)[0].headers == headers


def test_every_byte_comes_back(family: Family, topic: str) -> None:
    every_byte = bytes(range(256))
    family.produce(topic, [Record(every_byte, every_byte[::-1])])
    assert content(family.read(topic, 1)) == [(every_byte[::-1], every_byte)]


def test_time_of_creation_is_the_producers(family: Family, topic: str) -> None:
    times = [NOON_MS, NOON_MS - 5, NOON_MS + 86_400_000, 1]
    family.produce(topic, [Record(b"", timestamp_ms=time) for time in times])
    assert [(r.timestamp_ms, r.timestamp_type) for r in family.read(topic, 4)] == [(t, CREATE_TIME) for t in times]


def test_time_of_append_is_the_brokers(family: Family, make_topic: Callable[..., str]) -> None:
    topic = make_topic(configs={"message.timestamp.type": "LogAppendTime"})
    before_ms = now_ms()
    family.produce(topic, [Record(b"%d" % n, timestamp_ms=NOON_MS + n) for n in range(3)])
    records = family.read(topic, 3)
    assert {record.timestamp_type for record in records} == {LOG_APPEND_TIME}
    assert all(before_ms - 1000 <= record.timestamp_ms <= now_ms() + 1000 for record in records)


@pytest.mark.parametrize("codec", list(CODECS))
def test_codec_of_the_producer_is_stored_and_read(family: Family, topic: str, codec: str, wire: Wire) -> None:
    records = [Record(COMPRESSIBLE + b"%d" % n, b"%d" % n) for n in range(50)]
    family.produce(topic, records, {"compression.type": codec, "linger.ms": 20})
    assert stored_codecs(wire, topic) == {CODECS[codec]}
    assert content(family.read(topic, 50)) == [(record.key, record.value) for record in records]


@pytest.mark.parametrize("codec", [name for name in CODECS if name != "none"])
def test_codec_of_the_topic_wins(family: Family, make_topic: Callable[..., str], codec: str, wire: Wire) -> None:
    topic = make_topic(configs={"compression.type": codec})
    records = [Record(COMPRESSIBLE + b"%d" % n, b"%d" % n) for n in range(10)]
    family.produce(topic, records, {"compression.type": "none" if codec == "gzip" else "gzip"})
    assert stored_codecs(wire, topic) == {CODECS[codec]}
    assert content(family.read(topic, 10)) == [(record.key, record.value) for record in records]


@pytest.mark.kafka
def test_every_client_reads_what_every_other_wrote(families: list[Family], make_topic: Callable[..., str]) -> None:
    topic = make_topic()
    sent: list[tuple[bytes, bytes]] = []
    for writer in families:
        for codec in CODECS:
            records = [Record(COMPRESSIBLE, f"{writer.name} {codec} {n}".encode()) for n in range(5)]
            writer.produce(topic, records, {"compression.type": codec})
            sent += [(record.key or b"", COMPRESSIBLE) for record in records]
    for reader in families:
        assert content(reader.read(topic, len(sent))) == sent, reader.name


@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_acks(family: Family, topic: str, acks: int | str) -> None:
    settings = {"acks": acks, "enable.idempotence": acks == "all"}
    family.produce(topic, [Record(b"%d" % n) for n in range(10)], settings)
    assert [record.value for record in family.read(topic, 10)] == [b"%d" % n for n in range(10)]


def test_order_within_a_partition_is_the_order_of_sending(family: Family, make_topic: Callable[..., str]) -> None:
    topic = make_topic(3)
    with family.producer({"enable.idempotence": True, "acks": "all", "batch.size": 2000}) as producer:
        for start in range(0, 3000, 1000):
            producer.send(topic, [Record(b"%d" % n, partition=n % 3) for n in range(start, start + 1000)])
    for partition in range(3):
        read = family.read(topic, 1000, partition=partition)
        assert [record.value for record in read] == [b"%d" % n for n in range(partition, 3000, 3)]
        assert [record.offset for record in read] == list(range(1000))


def test_batch_larger_than_every_limit_is_still_read(family: Family, topic: str) -> None:
    large = bytes(range(256)) * 3500  # 896,000 bytes
    family.produce(topic, [Record(b"before"), Record(large), Record(b"after")])
    limits = {"max.partition.fetch.bytes": 1000, "fetch.max.bytes": 1000}
    if family.name == "confluent-kafka":  # refuses to be configured with less than a message's maximum
        limits = {"max.partition.fetch.bytes": 1000}
    values = [record.value for record in family.read(topic, 3, settings=limits)]
    assert values == [b"before", large, b"after"]


def test_message_of_several_megabytes(family: Family, make_topic: Callable[..., str]) -> None:
    topic = make_topic(configs={"max.message.bytes": "6000000"})
    large = bytes(range(256)) * 20_000  # 5,120,000 bytes
    family.produce(topic, [Record(large)], {"max.request.size": 6_000_000})
    assert family.read(topic, 1)[0].value == large


def test_message_above_the_topics_limit_is_refused(family: Family, make_topic: Callable[..., str]) -> None:
    topic = make_topic(configs={"max.message.bytes": "2000"})
    with pytest.raises(ClientError) as refused:
        family.produce(topic, [Record(bytes(3000))])
    assert refused.value.code == control.MESSAGE_TOO_LARGE
    assert family.produce(topic, [Record(bytes(1000))]) == [(0, 0)]


def test_producing_creates_the_topic(family: Family, fresh: Callable[[str], str], wire: Wire) -> None:
    topic = fresh("topic")
    family.produce(topic, [Record(b"first")])
    assert [record.value for record in family.read(topic, 1)] == [b"first"]
    control.delete_topic(wire, topic)


def test_consumer_waits_at_the_end_and_is_woken(family: Family, topic: str) -> None:
    with family.consumer() as consumer:
        consumer.assign([(topic, 0)])
        consumer.seek((topic, 0), 0)
        for number in range(5):
            family.produce(topic, [Record(b"%d" % number)])
            assert [record.value for record in consumer.take(1)] == [b"%d" % number]


@pytest.mark.parametrize("reset", ["earliest", "latest"])
def test_consumer_without_an_offset_starts_where_its_setting_says(
    family: Family, topic: str, group: str, reset: str
) -> None:
    family.produce(topic, [Record(b"old")])
    with family.consumer({"group.id": group, "auto.offset.reset": reset}) as consumer:
        consumer.subscribe([topic])
        seen: list[bytes | None] = []

        def produce_until_seen() -> bool:
            if consumer.assignment():
                family.produce(topic, [Record(b"new")])
            seen.extend(record.value for record in consumer.poll())
            return b"new" in seen

        until(produce_until_seen, "a new record")
        assert seen[0] == (b"old" if reset == "earliest" else b"new")


def test_consumer_that_may_not_reset_says_so(family: Family, topic: str, group: str) -> None:
    family.produce(topic, [Record(b"unseen")])
    with family.consumer({"group.id": group, "auto.offset.reset": "none"}) as consumer:
        consumer.assign([(topic, 0)])
        with pytest.raises(ClientError):
            consumer.take(1)


def test_offset_below_the_start_resets(family: Family, topic: str, wire: Wire) -> None:
    family.produce(topic, [Record(b"%d" % n) for n in range(10)])
    control.delete_records(wire, topic, before_offset=7)
    values = [record.value for record in family.read(topic, 3, offset=2, settings=FROM_START)]
    assert values == [b"7", b"8", b"9"]


def test_paused_partition_rests_while_others_go_on(family: Family, make_topic: Callable[..., str]) -> None:
    topic = make_topic(2)
    with family.consumer(FROM_START) as consumer:
        consumer.assign([(topic, 0), (topic, 1)])
        family.produce(topic, [Record(b"a", partition=0), Record(b"b", partition=1)])
        assert len(consumer.take(2)) == 2
        consumer.pause([(topic, 0)])
        family.produce(topic, [Record(b"held back", partition=0), Record(b"flows", partition=1)])
        assert [record.value for record in consumer.take(1)] == [b"flows"]
        family.produce(topic, [Record(b"flows on", partition=1)])
        assert [record.value for record in consumer.take(1)] == [b"flows on"]
        consumer.resume([(topic, 0)])
        assert [record.value for record in consumer.take(1)] == [b"held back"]
