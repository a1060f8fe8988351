"""A log beside a plain list of records: whatever is done, in whatever order, both hold the same."""

from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import NamedTuple, TypeAlias

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from kafkish_protocol.records import Compression
from kafkish_storage.config import CleanerConfig, LogConfig
from kafkish_storage.files.memory import MemoryFiles
from kafkish_storage.log import Log
from kafkish_storage.manager import LogManager, NewLog
from kafkish_storage.names import TopicPartition
from kafkish_storage.opening import StorageConfig
from kafkish_storage.tests.making import flush, keyed, read_all, records_of

PARTITION = TopicPartition("t", 0)
KEYS = [b"a", b"b", b"c", b"d", b"e"]
EXAMPLES, STEPS = 150, 100

Pairs: TypeAlias = list[tuple[bytes, bytes | None]]

values = st.one_of(st.none(), st.binary(max_size=3), st.just(b"long" * 60))
pairs = st.lists(st.tuples(st.sampled_from(KEYS), values), min_size=1, max_size=4)
batches = st.lists(pairs, min_size=3, max_size=8)


class Held(NamedTuple):
    """A record of the model; `first_offset` and `last_offset` are its batch's."""

    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int
    epoch: int
    first_offset: int
    last_offset: int


class LogMachine(RuleBasedStateMachine):
    """The model is `held`. Of records that compaction may take or leave (tombstones), it learns which."""

    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.disk = MemoryFiles()
        self.now_ms = 1000
        self.epoch = 0
        self.held: list[Held] = []
        self.durable_offset = 0

    @initialize(compacts=st.booleans())
    def create(self, compacts: bool) -> None:
        self.config = LogConfig(
            cleanup_policy=frozenset({"compact"} if compacts else {"delete"}),
            segment_bytes=1200, index_interval_bytes=150, segment_index_bytes=96, file_delete_delay_ms=20,
            retention_bytes=2500, retention_ms=500, min_cleanable_dirty_ratio=0.01, delete_retention_ms=60,
        )  # fmt: skip
        self.open()
        job = self.manager.create([NewLog(PARTITION, "t" * 22)], self.now_ms)
        job.run()
        job.finish()

    def open(self) -> None:
        cleaner = CleanerConfig(dedupe_buffer_bytes=24 * 7, io_buffer_bytes=500)
        config = StorageConfig(config_of=lambda _: self.config, cleaner=cleaner, threads_per_directory=1)
        self.manager = LogManager.open(self.disk, ["/data"], config, now_ms=self.now_ms, dice=Random(1))

    @property
    def log(self) -> Log:
        log = self.manager.get(PARTITION)
        assert log is not None
        return log

    def visible(self) -> list[Held]:
        return [one for one in self.held if one.offset >= self.log.start_offset]

    # -- changing

    @rule(batches=batches, age_ms=st.integers(0, 50), codec=st.sampled_from([Compression.NONE, Compression.LZ4]))
    def append(self, batches: list[Pairs], age_ms: int, codec: Compression) -> None:
        timestamp = self.now_ms - age_ms
        for one in batches:
            done = self.log.append_as_leader([keyed(one, timestamp, compression=codec)], self.epoch, self.now_ms)
            for at, (key, value) in enumerate(one):
                place = (self.epoch, done.first_offset, done.last_offset)
                self.held.append(Held(done.first_offset + at, key, value, timestamp, *place))
        self.log.update_high_watermark(self.log.end_offset)

    @rule(wait_ms=st.integers(1, 90), batches=batches)
    def wait(self, wait_ms: int, batches: list[Pairs]) -> None:
        """Time passes, and records come."""
        self.now_ms += wait_ms
        self.disk.now_ms = self.now_ms
        self.append(batches, 0, Compression.NONE)

    @rule()
    def elect(self) -> None:
        self.epoch += 1

    @rule(batches=batches)
    def roll(self, batches: list[Pairs]) -> None:
        self.append(batches, 0, Compression.ZSTD)
        self.log.roll(self.now_ms)

    @rule()
    def flush(self) -> None:
        self.durable_offset = flush(self.log)
        assert self.durable_offset == self.log.end_offset

    @rule()
    def checkpoint(self) -> None:
        for job in self.manager.directories[0].checkpoint_all():
            job.run()
            job.finish()

    @precondition(lambda self: self.held)
    @rule(back=st.integers(0, 12))
    def truncate(self, back: int) -> None:
        offset = max(self.log.start_offset, self.log.end_offset - back)
        self.log.truncate_to(offset, self.now_ms)
        self.held = [one for one in self.held if one.last_offset < offset]
        assert self.log.end_offset <= offset
        self.durable_offset = min(self.durable_offset, self.log.end_offset)

    @rule(share=st.floats(0, 0.4))
    def delete_records(self, share: float) -> None:
        log = self.log
        offset = log.start_offset + int((log.high_watermark - log.start_offset) * share)
        before = log.start_offset
        assert log.advance_start(offset) == (offset > before)
        assert log.start_offset == offset
        self.checkpoint()

    @rule()
    def retain(self) -> None:
        log = self.log
        job = self.manager.retain([log], self.now_ms)
        job.run()
        job.finish()
        self.manager.directories[0].remove_garbage(self.now_ms).run()
        if self.config.delete and log.segments.size_bytes > self.config.retention_bytes:
            assert log.segments.size_bytes - log.segments.first.size_bytes < self.config.retention_bytes

    @rule(batches=batches)
    def compact(self, batches: list[Pairs]) -> None:
        self.append(batches, 0, Compression.SNAPPY)
        self.roll(batches)
        self.flush()
        self.checkpoint()
        job = self.manager.next_compaction(self.now_ms)
        if job is None:
            return
        job.run()
        job.adopt()
        job.swap()
        cleaned = job.finish()
        self.manager.compaction_ended(job, cleaned)
        last = {one.key: one.offset for one in self.visible() if one.offset < cleaned}
        expected = [one for one in self.visible() if one.offset >= cleaned or last[one.key] == one.offset]
        there = {record.offset for record in records_of(read_all(self.log))}
        self.held = [one for one in expected if one.value is not None or one.offset in there]

    @rule()
    def restart(self) -> None:
        self.manager.close()
        self.open()
        self.log.update_high_watermark(self.log.end_offset)
        self.durable_offset = self.log.end_offset

    @rule(seed=st.integers(0, 1000), share=st.sampled_from([0.0, 0.5, 1.0]))
    def crash(self, seed: int, share: float) -> None:
        dice = Random(seed)
        end_offset = self.log.end_offset
        self.disk = self.disk.crashed(lambda: dice.random() < share)
        self.open()
        log = self.log
        assert self.durable_offset <= log.end_offset <= end_offset
        assert share < 1.0 or log.end_offset == end_offset
        self.held = [one for one in self.held if one.offset < log.end_offset]
        log.update_high_watermark(log.end_offset)

    # -- asking

    @rule()
    def read_everything(self) -> None:
        found = []
        for one in read_all(self.log):
            place = (one.leader_epoch, one.base_offset, one.last_offset)
            found += [
                Held(record.offset, record.key, record.value, record.timestamp, *place) for record in one.records()
            ]
        assert [one for one in found if one.offset >= self.log.start_offset] == self.visible()

    @rule(share=st.floats(0, 1))
    def read_from(self, share: float) -> None:
        offset = self.log.start_offset + int((self.log.end_offset - self.log.start_offset) * share)
        first = next((one for one in self.visible() if one.last_offset >= offset), None)
        read = self.log.read(offset, 1)
        if first is None:
            assert read.records is None or self.config.compact  # which may leave batches without records
        else:
            assert read.records is not None
            assert read.base_offset == first.first_offset or self.config.compact
            assert read.base_offset <= first.first_offset

    @rule(share=st.floats(0, 1))
    def look_up_time(self, share: float) -> None:
        timestamp = int(950 + (self.now_ms - 900) * share)
        expected = next((one for one in self.visible() if one.timestamp >= timestamp), None)
        found = self.log.offset_of_timestamp(timestamp)
        assert (found and found.offset) == (expected and expected.offset)
        newest = max(self.visible(), key=lambda one: one.timestamp, default=None)
        found = self.log.largest_timestamp()
        assert (found and (found.timestamp, found.offset)) == (newest and (newest.timestamp, newest.offset))

    @rule()
    def look_up_epochs(self) -> None:
        for one, following in pairwise(self.visible()):
            assert self.log.epochs.epoch_of(one.offset) == one.epoch
            end = self.log.end_of_epoch(one.epoch)
            assert end is not None
            if one.epoch != following.epoch:
                assert one.offset < end.end_offset <= following.offset

    @invariant()
    def offsets_are_in_order(self) -> None:
        type(self).steps += 1
        if hasattr(self, "manager") and self.manager.get(PARTITION):
            log = self.log
            assert log.start_offset <= log.last_stable_offset <= log.high_watermark <= log.end_offset
            assert log.recovery_point <= log.end_offset


@pytest.mark.timeout(900)
def test_a_log_holds_what_a_list_of_records_would(show: Callable[[str], None]) -> None:
    LogMachine.steps = 0
    chosen = settings(
        max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None, derandomize=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    run_state_machine_as_test(LogMachine, settings=chosen)
    show(f"storage: {LogMachine.steps:,} steps of the log beside a list of records")
    assert LogMachine.steps >= 10_000
