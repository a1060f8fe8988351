"""A data directory goes from Apache Kafka to kafkish and back, and nothing changes but the program."""

import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from apache_kafka import ApacheKafka
from confluent_kafka import Producer

from kafkish_protocol.records import Batch, Record, build_batch
from kafkish_storage import DiskFiles, LogConfig, LogManager, ProducerConfig, StorageConfig
from kafkish_storage.properties import read_topic_id
from kafkish_storage.tests.dump_tool import dump, files_of, unavoidable
from kafkish_storage.tests.kafka_wire import KafkaWire, Question, WireLog, ask_log, random_questions
from kafkish_storage.tests.making import read_all
from kafkish_storage.tests.sample_logs import (
    NOW_MS,
    compact,
    create,
    log_of,
    write_changes,
    write_codecs,
    write_epochs,
    write_last,
    write_transactions,
)
from kafkish_storage.transaction_checkpoint import FILE_NAME as TRANSACTION_CHECKPOINT

pytestmark = pytest.mark.kafka

# Small segments by their records' time: Kafka makes none below 1 MB.
DELETE = LogConfig(segment_ms=8_000, index_interval_bytes=512, retention_ms=-1)
APPEND_TIME = LogConfig(index_interval_bytes=512, retention_ms=-1, message_timestamp_type="LogAppendTime")
COMPACT = LogConfig(
    segment_ms=600, index_interval_bytes=512, cleanup_policy=frozenset({"compact"}), min_cleanable_dirty_ratio=0.01
)
KAFKAS = {
    "kafka-codecs": DELETE,
    "kafka-append-time": APPEND_TIME,
    "kafka-transactions": DELETE,
    "kafka-compacted": COMPACT,
    "kafka-emptied": COMPACT,
}
OURS = {
    "our-codecs": DELETE,
    "our-append-time": APPEND_TIME,
    "our-transactions": DELETE,
    "our-epochs": DELETE,
    "our-compacted": COMPACT,
}
CONFIGS = {**KAFKAS, **OURS}
SETTINGS = {
    "log.cleaner.backoff.ms": "100",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "transaction.state.log.num.partitions": "1",
}


def topic_settings(config: LogConfig) -> dict[str, str]:
    return {
        "cleanup.policy": ",".join(config.cleanup_policy),
        "segment.ms": str(config.segment_ms),
        "index.interval.bytes": str(config.index_interval_bytes),
        "retention.ms": str(config.retention_ms),
        "message.timestamp.type": config.message_timestamp_type,
        "min.cleanable.dirty.ratio": str(config.min_cleanable_dirty_ratio),
    }


@dataclass
class Kafka:
    """An Apache Kafka that was stopped, and what it said before."""

    broker: ApacheKafka
    batches: dict[str, list[bytes]]
    answers: list[tuple[Question, object]]
    copy: Path


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    dice = Random(4_3_0)
    with ApacheKafka(tmp_path_factory.mktemp("kafka"), **SETTINGS) as broker:
        with KafkaWire(broker.port) as wire:
            for topic, config in CONFIGS.items():
                wire.create_topic(topic, topic_settings(config))
            fill(broker, wire, dice)
            batches = {topic: wire.read_all(topic) for topic in KAFKAS}
            # In a segment whose newest batch was emptied Kafka finds no record by time, even if the next one has it.
            answers = ask_all(wire, {topic: batches[topic] for topic in KAFKAS if topic != "kafka-emptied"}, dice)
        broker.stop()
        copy = tmp_path_factory.mktemp("copy") / "data"
        shutil.copytree(broker.data_dir, copy)
        yield Kafka(broker, batches, answers, copy)


def fill(broker: ApacheKafka, wire: KafkaWire, dice: Random) -> None:
    write_codecs(WireLog(wire, "kafka-codecs"), dice)
    write_codecs(WireLog(wire, "kafka-append-time"), dice)
    write_changes(WireLog(wire, "kafka-compacted"), dice)
    produce_transactions(broker, "kafka-transactions", dice, number_from=0)
    produce_transactions(broker, "kafka-compacted", dice, number_from=30)
    produce_what_will_be_emptied(WireLog(wire, "kafka-emptied"))
    for topic in ("kafka-compacted", "kafka-emptied"):
        wait_for_cleaner(broker.data_dir, topic)


def produce_what_will_be_emptied(log: WireLog) -> None:
    """The newest batch of a segment and the last of its producer: compaction keeps its header and not its record."""
    newest_ms = NOW_MS + 60_000_000
    older_ms = newest_ms - COMPACT.segment_ms

    def send(timestamp: int, *keys: bytes, producer_id: int = -1) -> None:
        records = [Record(n, timestamp, key, bytes(100)) for n, key in enumerate(keys)]
        is_first = 0 if producer_id >= 0 else -1
        data = build_batch(records, producer_id=producer_id, producer_epoch=is_first, base_sequence=is_first)
        log.append_as_leader([Batch(bytes(data))], 0, NOW_MS)

    send(older_ms, b"older")
    send(newest_ms, b"emptied", producer_id=7777)
    send(older_ms, b"emptied", *(b"other-%d" % n for n in range(10)))
    send(older_ms, b"last")
    send(newest_ms + 1, b"rolls")


def produce_transactions(broker: ApacheKafka, topic: str, dice: Random, number_from: int) -> None:
    """Of two producers, by turns; some are aborted, and one is left open if readers need not wait for it."""
    settings = {"bootstrap.servers": broker.address, "linger.ms": 1, "transaction.timeout.ms": 600_000}
    producers = [Producer({**settings, "transactional.id": f"{topic}-{n}"}) for n in range(2)]
    for producer in producers:
        producer.init_transactions(30)
    for number in range(number_from, number_from + 40):
        for producer in producers:
            producer.begin_transaction()
            for n in range(dice.randint(1, 40)):
                value = dice.randbytes(dice.randrange(1, 200)).hex()
                key, timestamp = f"k{dice.randrange(400)}", NOW_MS + number * 500 + n
                producer.produce(topic, value, key, partition=0, timestamp=timestamp)
            producer.flush(30)
        for producer in producers:
            (producer.commit_transaction if dice.random() < 0.6 else producer.abort_transaction)(30)
    if topic == "kafka-transactions":
        producers[0].begin_transaction()
        producers[0].produce(topic, b"open", partition=0, timestamp=NOW_MS)
        producers[0].flush(30)


def wait_for_cleaner(data_dir: Path, topic: str, timeout_s: float = 30) -> None:
    """Until Kafka has compacted all but the last segment."""
    last = max(int(path.stem) for path in (data_dir / f"{topic}-0").glob("*.log"))
    deadline = time.monotonic() + timeout_s
    while f"{topic} 0 {last}\n" not in (data_dir / "cleaner-offset-checkpoint").read_text():
        assert time.monotonic() < deadline, "Kafka's cleaner has not come by"
        time.sleep(0.05)


def ask_all(wire: KafkaWire, batches: dict[str, list[bytes]], dice: Random) -> list[tuple[Question, object]]:
    questions = [
        question
        for topic, found in batches.items()
        for question in random_questions(topic, [Batch(data) for data in found], 300, dice)
    ]
    return [(question, wire.ask(question)) for question in questions]


def open_here(path: Path) -> LogManager:
    config = StorageConfig(config_of=lambda topic: CONFIGS.get(topic, LogConfig()))
    config.producers = ProducerConfig(transaction_partition_verification_enable=False)
    manager = LogManager.open(DiskFiles(), [str(path)], config, now_ms=NOW_MS, dice=Random(0))
    for log in manager.logs:
        log.update_high_watermark(log.end_offset)
    return manager


def differences(manager: LogManager, answers: list[tuple[Question, object]]) -> list[tuple[Question, object, object]]:
    found = [(question, answer, ask_log(log_of(manager, question.topic), question)) for question, answer in answers]
    return [one for one in found if one[1] != one[2]]


def check_variety(answers: list[tuple[Question, object]]) -> None:
    """The answers are about something: records found, records between aborted ones, times found, offsets refused."""
    fetched = [answer for question, answer in answers if question.kind != "timestamp" and isinstance(answer, tuple)]
    times = [answer for question, answer in answers if question.kind == "timestamp" and isinstance(answer, tuple)]
    assert len([records for records, _ in fetched if records]) > 500
    assert len([aborted for _, aborted in fetched if aborted]) > 50
    assert len([answer for answer in times if answer[1] >= 0]) > 200
    assert "out of range" in [answer for _, answer in answers]


def copied(kafka: Kafka, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kafka.copy, tmp_path / "data"))


# -- from Kafka to here


def test_directory_of_kafka_opens_here_with_the_same_records_and_answers(
    kafka: Kafka, tmp_path: Path, show: Callable[[str], None]
) -> None:
    manager = open_here(copied(kafka, tmp_path))
    assert manager.directories[0].was_clean
    assert not manager.directories[0].broken
    for topic, batches in kafka.batches.items():
        assert [bytes(batch.view) for batch in read_all(log_of(manager, topic))] == batches
    assert differences(manager, kafka.answers) == []
    check_variety(kafka.answers)
    count = sum(map(len, kafka.batches.values()))
    show(f"{count:,} batches of Kafka's read, {len(kafka.answers):,} random look-ups answered as Kafka did")
    manager.close()


@pytest.mark.parametrize("topic", ["kafka-codecs", "kafka-append-time", "kafka-transactions"])
def test_same_batches_make_the_same_files_as_kafkas_byte_for_byte(
    kafka: Kafka, tmp_path: Path, topic: str, show: Callable[[str], None]
) -> None:
    theirs = kafka.copy / f"{topic}-0"
    manager = open_here(tmp_path)
    log = create(manager, topic, read_topic_id(DiskFiles(), str(theirs)))
    for data in kafka.batches[topic]:
        batch = Batch(data)
        log.append_as_follower([batch], batch.leader_epoch, NOW_MS)
    manager.close()
    ours = {path.name: path.read_bytes() for path in (tmp_path / f"{topic}-0").iterdir()}
    ours.pop(TRANSACTION_CHECKPOINT, None)  # only kafkish has it
    kafkas = {path.name: path.read_bytes() for path in theirs.iterdir()}
    assert sorted(ours) == sorted(kafkas)
    assert [name for name in kafkas if ours[name] != kafkas[name]] == []
    show(f"{len(ours)} files of {topic} are Kafka's, byte for byte")


def test_the_tool_says_no_more_of_our_files_than_of_kafkas(kafka: Kafka) -> None:
    topics = ("kafka-compacted", "kafka-emptied")
    kinds = (".log", ".index", ".timeindex")
    files = [path for topic in topics for path in files_of(kafka.copy, topic, kinds)]
    complaints = dump(files, "--deep-iteration").complaints
    assert complaints == unavoidable(files)
    assert any(title.startswith("Non-consecutive offsets") for title in complaints)
    assert any(title.startswith("Found timestamp mismatch") for title in complaints)


# -- from here to Kafka


def test_directory_written_here_is_mounted_by_kafka_with_the_same_records_and_answers(
    kafka: Kafka, show: Callable[[str], None]
) -> None:
    manager = open_here(kafka.broker.data_dir)
    write_ours(manager)
    ours = {topic: [bytes(batch.view) for batch in read_all(log_of(manager, topic))] for topic in CONFIGS}
    assert {topic: ours[topic] for topic in KAFKAS} == kafka.batches
    manager.close(manager.directories[0].previous_broker_epoch or -1)
    log_before = kafka.broker.log_path.stat().st_size
    kafka.broker.start()
    with KafkaWire(kafka.broker.port) as wire:
        for topic in CONFIGS:
            wire.wait_for_topic(topic)
        assert {topic: wire.read_all(topic) for topic in CONFIGS} == ours
        answers = ask_all(wire, {topic: ours[topic] for topic in OURS}, Random(0))
    assert complaints_in(kafka.broker.log_path.read_text()[log_before:]) == []
    check_variety(answers)
    kafka.broker.stop()
    manager = open_here(kafka.broker.data_dir)
    assert differences(manager, answers) == []
    manager.close()
    count = sum(len(ours[topic]) for topic in OURS)
    show(f"{count:,} batches of ours served by Kafka, {len(answers):,} random look-ups answered as here")


def write_ours(manager: LogManager) -> None:
    """Into topics that Kafka has made."""
    dice = Random(7)
    write_codecs(log_of(manager, "our-codecs"), dice)
    write_codecs(log_of(manager, "our-append-time"), dice)
    write_transactions(log_of(manager, "our-transactions"), dice)
    write_epochs(log_of(manager, "our-epochs"), dice, leader_epochs=(0, 1))  # not above those of Kafka's controller
    changing = log_of(manager, "our-compacted")
    write_changes(changing, dice)
    write_transactions(changing, dice, leave_open=False, key=lambda: b"k%d" % dice.randrange(400))
    write_last(changing)
    compact(manager, NOW_MS)


def complaints_in(log: str) -> list[str]:
    """Lines of Kafka's log that say that a partition's files are not as they should be."""
    of_files = [line for line in log.splitlines() if re.search(r" (org\.apache\.kafka\.storage|kafka\.log)\.", line)]
    of_partitions = [line for line in of_files if "__cluster_metadata" not in line]
    assert any("clean shutdown file was found" in line for line in of_partitions)
    return [line for line in of_partitions if re.search(r"WARN|ERROR|orrupt|Recovering|Rebuilding|Truncating", line)]
