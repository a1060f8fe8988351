"""A data directory with one topic of each kind that a broker has, written through the room's front door.

Apache Kafka's tools and broker read it in tests: every codec, transactions that were committed, aborted and left open,
a compacted topic, several leaders, and the log of a transaction coordinator.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Protocol

from kafkish_protocol.records import Batch, Compression, Record, build_batch
from kafkish_protocol.stored.transaction_log import PartitionsSchema, TransactionLogKey, TransactionLogValue
from kafkish_storage import DiskFiles, Log, LogConfig, LogManager, NewLog, ProducerConfig, StorageConfig, TopicPartition
from kafkish_storage.tests.making import flush, marker, read_all

NOW_MS = 1_700_000_000_000
SMALL = LogConfig(segment_bytes=48 * 1024, index_interval_bytes=512, segment_index_bytes=64 * 1024)
COMPACTED = LogConfig(
    segment_bytes=48 * 1024,
    index_interval_bytes=512,
    segment_index_bytes=64 * 1024,
    cleanup_policy=frozenset({"compact"}),
    min_cleanable_dirty_ratio=0.0,
)
APPEND_TIME = LogConfig(segment_bytes=48 * 1024, index_interval_bytes=512, message_timestamp_type="LogAppendTime")

CONFIGS: Mapping[str, LogConfig] = {
    "codecs": SMALL,
    "append-time": APPEND_TIME,
    "transactions": SMALL,
    "epochs": SMALL,
    "compacted": COMPACTED,
    "__transaction_state": COMPACTED,
}


def open_manager(path: Path) -> LogManager:
    config = StorageConfig(
        config_of=lambda topic: CONFIGS.get(topic, LogConfig()),
        producers=ProducerConfig(transaction_partition_verification_enable=False),
    )
    return LogManager.open(DiskFiles(), [str(path)], config, now_ms=NOW_MS, dice=Random(0))


def write_sample(path: Path, topic_ids: Mapping[str, str] | None = None) -> LogManager:
    """Fill a directory. The caller closes the manager, or does not."""
    manager = open_manager(path)
    for topic in CONFIGS:
        create(manager, topic, (topic_ids or {}).get(topic))
    dice = Random(4_3_0)
    write_codecs(log_of(manager, "codecs"), dice)
    write_codecs(log_of(manager, "append-time"), dice)
    write_transactions(log_of(manager, "transactions"), dice)
    write_epochs(log_of(manager, "epochs"), dice)
    write_changes(log_of(manager, "compacted"), dice)
    write_transactions(log_of(manager, "compacted"), dice, leave_open=False, key=lambda: b"k%d" % dice.randrange(400))
    write_coordinator_log(log_of(manager, "__transaction_state"))
    for days in (0, 2, 4):  # tombstones get their horizon, and go when it has passed
        write_last(log_of(manager, "compacted"))
        compact(manager, NOW_MS + days * 24 * 60 * 60 * 1000)
    return manager


def create(manager: LogManager, topic: str, topic_id: str | None) -> Log:
    job = manager.create([NewLog(TopicPartition(topic, 0), topic_id)], NOW_MS)
    job.run()
    return job.finish()[0]


def log_of(manager: LogManager, topic: str) -> Log:
    log = manager.get(TopicPartition(topic, 0))
    assert log is not None
    return log


class Appends(Protocol):
    """A log, or whatever takes batches for one."""

    def append_as_leader(self, batches: Sequence[Batch], leader_epoch: int, now_ms: int) -> object: ...


def write_codecs(log: Appends, dice: Random) -> None:
    """Batches of every codec, with empty and missing keys and values, and timestamps that go back."""
    for number in range(300):
        records = [_random_record(offset, number, dice) for offset in range(dice.randint(1, 12))]
        compression = list(Compression)[number % len(Compression)]
        log.append_as_leader([Batch(bytes(build_batch(records, compression=compression)))], 0, NOW_MS + number * 100)


def _random_record(offset: int, number: int, dice: Random) -> Record:
    timestamp = NOW_MS + number * 100 + dice.randint(-1000, 90)
    key = dice.choice([None, b"", b"k%d" % dice.randrange(50)])
    value = dice.choice([None, b"", dice.randbytes(30).hex().encode() * dice.randrange(1, 20)])
    return Record(offset, timestamp, key, value, [("h", b"v"), ("n", None)] if number % 7 == 0 else [])


class Producing:
    """A transactional producer: its id, and the sequence that comes next."""

    def __init__(self, log: Log, producer_id: int) -> None:
        self._log = log
        self._id = producer_id
        self._sequence = 0
        self.is_open = False

    def send(self, dice: Random, number: int, key: Callable[[], bytes] = lambda: b"k") -> None:
        count = dice.randint(1, 8)
        records = [
            Record(n, NOW_MS + number * 100 + n, key(), dice.randbytes(dice.randrange(8, 100)).hex().encode())
            for n in range(count)
        ]
        data = build_batch(
            records, producer_id=self._id, producer_epoch=0, base_sequence=self._sequence, transactional=True,
            compression=dice.choice(list(Compression)),
        )  # fmt: skip
        self._log.append_as_leader([Batch(bytes(data))], 0, NOW_MS + number * 100)
        self._sequence += count
        self.is_open = True

    def end(self, commit: bool, number: int) -> None:
        end = marker(commit, self._id, timestamp=NOW_MS + number * 100)
        self._log.append_as_leader([end], 0, NOW_MS + number * 100)
        self.is_open = False


def write_transactions(
    log: Log, dice: Random, *, leave_open: bool = True, key: Callable[[], bytes] = lambda: b"k"
) -> None:
    """Transactions that overlap; two of three are committed."""
    producers = [Producing(log, 1000 + number) for number in range(4)]
    for number in range(400):
        producer = dice.choice(producers)
        if producer.is_open and dice.random() < 0.3:
            producer.end(dice.random() < 0.67, number)
        else:
            producer.send(dice, number, key)
    for producer in producers[1 if leave_open else 0 :]:
        if producer.is_open:
            producer.end(True, 400)


def write_epochs(log: Log, dice: Random, leader_epochs: Sequence[int] = (0, 3, 4, 9)) -> None:
    """Leaders come and go; one of them has written what the next one does not know."""
    for leader_epoch in leader_epochs:
        for number in range(60):
            records = [_random_record(offset, number, dice) for offset in range(dice.randint(1, 5))]
            log.append_as_leader([Batch(bytes(build_batch(records)))], leader_epoch, NOW_MS + number * 100)
        if leader_epoch == leader_epochs[-2]:
            batches = read_all(log)
            log.truncate_to(batches[-20].base_offset, NOW_MS)


def write_changes(log: Appends, dice: Random) -> None:
    """Keys that change again and again and are deleted."""
    for number in range(300):
        records = [
            Record(n, NOW_MS + number * 10, b"k%d" % dice.randrange(400), dice.choice([None, b"v%d" % number * 20]))
            for n in range(dice.randint(1, 10))
        ]
        compression = list(Compression)[number % len(Compression)]
        log.append_as_leader([Batch(bytes(build_batch(records, compression=compression)))], 0, NOW_MS + number * 10)


def write_last(log: Log) -> None:
    """A segment of its own, so that all before it can be compacted."""
    log.roll(NOW_MS)
    log.append_as_leader([Batch(bytes(build_batch([Record(0, NOW_MS, b"last", b"value")])))], 0, NOW_MS)


def write_coordinator_log(log: Log) -> None:
    """What a transaction coordinator keeps: the state of each transactional id, many times, and one that is gone."""
    for number in range(500):
        key = TransactionLogKey(transactional_id=f"id-{number % 40}")
        value = TransactionLogValue(
            producer_id=number % 40,
            producer_epoch=number // 40,
            transaction_timeout_ms=60_000,
            transaction_status=number % 6,
            transaction_partitions=[PartitionsSchema(topic="transactions", partition_ids=[0, number])],
            transaction_last_update_timestamp_ms=NOW_MS + number,
            transaction_start_timestamp_ms=NOW_MS,
            client_transaction_version=2,
        )
        encoded = None if number == 499 else (1).to_bytes(2, "big") + value.encode(1)
        record = Record(0, NOW_MS + number, (0).to_bytes(2, "big") + key.encode(0), encoded)
        log.append_as_leader([Batch(bytes(build_batch([record])))], 0, NOW_MS + number)


def compact(manager: LogManager, now_ms: int) -> None:
    """Compact whatever can be, each log once."""
    for log in manager.logs:
        log.update_high_watermark(log.end_offset)
        flush(log)
    for directory in manager.directories:
        checkpoint = directory.checkpoint_recovery_points()
        checkpoint.run()
        checkpoint.finish()
    for _ in range(sum(log.config.compact for log in manager.logs)):
        job = manager.next_compaction(now_ms)
        if job is None:
            return
        job.run()
        job.adopt()
        job.swap()
        manager.compaction_ended(job, job.finish())
