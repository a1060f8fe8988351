"""A broker's storage on a disk that may lose its power at any moment, with a model of what it holds.

`World` does random things to a few logs. After every change on the disk it takes some of the states in which a crash
could leave it, starts from each, and compares with the model.
"""

import hashlib
from dataclasses import replace
from random import Random

from kafkish_protocol.records import Batch, assign_offset
from kafkish_storage.config import CleanerConfig, LogConfig
from kafkish_storage.errors import CompactionCancelled
from kafkish_storage.files.memory import MemoryFiles
from kafkish_storage.log import Log
from kafkish_storage.manager import LogManager, NewLog
from kafkish_storage.names import TopicPartition
from kafkish_storage.opening import StorageConfig
from kafkish_storage.producers import Origin
from kafkish_storage.tests.crash_model import Model
from kafkish_storage.tests.making import keyed, marker

PLAIN = TopicPartition("plain", 0)
COMPACTED = TopicPartition("compacted", 0)
DATA = "/data"

_SMALL = LogConfig(segment_bytes=1500, index_interval_bytes=200, segment_index_bytes=120, file_delete_delay_ms=50)
CONFIGS = {
    "plain": replace(_SMALL, retention_ms=400),
    "compacted": replace(
        _SMALL, cleanup_policy=frozenset({"compact"}), min_cleanable_dirty_ratio=0.01, delete_retention_ms=100
    ),
}
STORAGE = StorageConfig(
    config_of=lambda topic: CONFIGS[topic],
    cleaner=CleanerConfig(dedupe_buffer_bytes=24 * 16, io_buffer_bytes=700),
    threads_per_directory=1,
)


class World:
    """One run, decided by its seed."""

    def __init__(self, seed: int, crashes_per_change: int) -> None:
        self.seed = seed
        self.dice = Random(seed)
        self.crash_dice = Random(seed + 1)
        self.crashes_per_change = crashes_per_change
        self.states = 0
        self.distinct: set[bytes] = set()
        self.doing = "starting"
        self.checking = PLAIN
        self.now_ms = 1000
        self.epoch = 0
        self.sequences: dict[tuple[TopicPartition, int], int] = {}
        self.models = {PLAIN: Model(is_compacted=False), COMPACTED: Model(is_compacted=True)}
        self.disk = MemoryFiles()
        self.disk.make_directory(DATA)
        self.disk.sync_directory("/")
        self.manager = self.open(self.disk)
        job = self.manager.create([NewLog(PLAIN, "t" * 22), NewLog(COMPACTED, "u" * 22)], self.now_ms)
        job.run()
        job.finish()
        self.disk.on_change = self.crash

    def open(self, disk: MemoryFiles) -> LogManager:
        return LogManager.open(disk, [DATA], STORAGE, now_ms=self.now_ms, dice=Random(0))

    # -- crashing

    def crash(self, operation: str, path: str) -> None:
        """Start from some of the states in which the disk may be found now."""
        for _ in range(self.crashes_per_change):
            disk = self.disk.crashed_at_random(self.crash_dice)
            self.states += 1
            self.distinct.add(_digest(disk))
            try:
                self._check(disk)
            except Exception as error:
                where = (
                    f"seed {self.seed}, {self.doing}, {self.checking}, after {operation} {path}, state {self.states}"
                )
                raise AssertionError(f"{where}: {error}") from error

    def _check(self, disk: MemoryFiles) -> None:
        manager = self.open(disk)
        directory = manager.directories[0]
        assert not directory.broken, directory.broken
        for partition, model in self.models.items():
            log = manager.get(partition)
            if log is None:
                assert model.durable_offset == 0
            else:
                self.checking = partition
                model.check(log, self.crash_dice)

    def restart_after_crash(self) -> None:
        """Lose the power for good, and go on with what is left."""
        self.disk.on_change = None
        self.disk = self.disk.crashed_at_random(self.crash_dice)
        self.disk.on_change = self.crash
        self.manager = self.open(self.disk)
        self._adopt_what_is_there()

    def _adopt_what_is_there(self) -> None:
        for partition, model in self.models.items():
            log = self.log(partition)
            model.batches = [one for one in model.batches if one.next_offset <= log.end_offset]
            model.start_offset = log.start_offset
            log.update_high_watermark(log.end_offset)
            self._learn_sequences(partition, log)

    def _learn_sequences(self, partition: TopicPartition, log: Log) -> None:
        for producer_id in (1, 2, 3):
            entry = log.producers.producers.get(producer_id)
            self.sequences[partition, producer_id] = entry.last_sequence + 1 if entry else 0

    # -- doing

    def log(self, partition: TopicPartition) -> Log:
        log = self.manager.get(partition)
        assert log is not None
        return log

    def run(self, steps: int) -> None:
        choices = [
            (40, self.append), (6, self.transaction), (8, self.flush), (4, self.roll), (4, self.checkpoint),
            (5, self.truncate), (5, self.retain), (9, self.compact), (2, self.restart), (2, self.restart_after_crash),
            (4, self.remove_garbage), (2, self.elect), (1, self.truncate_fully), (2, self.delete_records),
        ]  # fmt: skip
        actions = [action for weight, action in choices for _ in range(weight)]
        for _ in range(steps):
            action = self.dice.choice(actions)
            self.doing = action.__name__
            self.now_ms += self.dice.randrange(1, 60)
            self.disk.now_ms = self.now_ms
            action()

    def append(self) -> None:
        partition = self.dice.choice((PLAIN, COMPACTED))
        producer_id = self.dice.choice((-1, -1, 1))
        self._append(partition, self._batch(partition, producer_id, transactional=False))

    def _batch(self, partition: TopicPartition, producer_id: int, *, transactional: bool) -> Batch:
        dice = self.dice
        size = dice.choice((1, 30, 300))
        values = [None if dice.random() < 0.2 else dice.randbytes(size) for _ in range(dice.randrange(1, 4))]
        pairs = [(b"key%d" % dice.randrange(6), value) for value in values]
        sequence = self.sequences.get((partition, producer_id), 0)
        if producer_id < 0:
            return keyed(pairs, self.now_ms + dice.randrange(-40, 1))
        return keyed(
            pairs,
            self.now_ms,
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=sequence,
            transactional=transactional,
        )

    def _append(self, partition: TopicPartition, one: Batch, origin: Origin = Origin.CLIENT) -> None:
        log, model = self.log(partition), self.models[partition]
        expected = bytearray(one.view)
        assign_offset(expected, 0, log.end_offset, self.epoch)
        model.batches.append(Batch(bytes(expected)))
        guard = None
        if one.is_transactional and not one.is_control:
            guard = log.producers.start_verification(
                one.producer_id, one.base_sequence, 0, supports_epoch_bump=False, now_ms=self.now_ms
            )
        log.append_as_leader([one], self.epoch, self.now_ms, origin=origin, guard=guard)
        if one.has_producer_id and not one.is_control:
            self.sequences[partition, one.producer_id] = one.last_sequence + 1
        if self.dice.random() < 0.8:
            log.update_high_watermark(log.end_offset)

    def transaction(self) -> None:
        """Batches of one or two transactions, and perhaps their ends."""
        partition = self.dice.choice((PLAIN, COMPACTED))
        for _ in range(self.dice.randrange(1, 4)):
            producer_id = self.dice.choice((2, 3))
            entry = self.log(partition).producers.producers.get(producer_id)
            if entry and entry.has_open_transaction and self.dice.random() < 0.6:
                self._append(partition, marker(self.dice.random() < 0.5, producer_id), Origin.COORDINATOR)
            else:
                self._append(partition, self._batch(partition, producer_id, transactional=True))

    def flush(self) -> None:
        partition = self.dice.choice((PLAIN, COMPACTED))
        log = self.log(partition)
        job = log.flush()
        if self.dice.random() < 0.3:
            self._append(partition, self._batch(partition, -1, transactional=False))
        job.run()
        self.models[partition].durable_offset = job.finish()

    def roll(self) -> None:
        self.log(self.dice.choice((PLAIN, COMPACTED))).roll(self.now_ms)

    def checkpoint(self) -> None:
        directory = self.manager.directories[0]
        for job in (
            directory.checkpoint_recovery_points(),
            directory.checkpoint_log_starts(),
            directory.checkpoint_high_watermarks(),
            directory.checkpoint_cleaned_offsets(),
        ):
            job.run()
            job.finish()

    def elect(self) -> None:
        self.epoch += 1

    def truncate(self) -> None:
        log, model = self.log(PLAIN), self.models[PLAIN]
        late = [one.base_offset for one in model.batches if one.base_offset >= log.start_offset][-6:]
        if not late:
            return
        offset = self.dice.choice(late)
        model.other = model.batches
        model.batches = [one for one in model.batches if one.base_offset < offset]
        model.durable_offset = min(model.durable_offset, offset)
        log.truncate_to(offset, self.now_ms)
        model.other = None
        self._learn_sequences(PLAIN, log)

    def truncate_fully(self) -> None:
        """A follower that is too far behind starts anew. Its leader's offsets go on."""
        log, model = self.log(PLAIN), self.models[PLAIN]
        model.other, model.batches, model.durable_offset = model.batches, [], 0
        model.start_offset = log.end_offset
        log.truncate_fully(log.end_offset, self.now_ms)
        model.other = None
        self._learn_sequences(PLAIN, log)

    def delete_records(self) -> None:
        log, model = self.log(PLAIN), self.models[PLAIN]
        log.update_high_watermark(log.end_offset)
        model.start_offset = self.dice.randrange(log.start_offset, log.end_offset + 1)
        log.advance_start(model.start_offset)

    def retain(self) -> None:
        log = self.log(PLAIN)
        log.update_high_watermark(log.end_offset)
        self.models[PLAIN].start_offset = log.end_offset
        job = self.manager.retain([log], self.now_ms)
        job.run()
        job.finish()
        self.models[PLAIN].start_offset = log.start_offset

    def compact(self) -> None:
        log = self.log(COMPACTED)
        log.update_high_watermark(log.end_offset)
        if self.dice.random() < 0.7:
            self.doing = "flush"
            job = log.flush()
            job.run()
            self.models[COMPACTED].durable_offset = job.finish()
            self.checkpoint()
            self.doing = "compact"
        compaction = self.manager.next_compaction(self.now_ms)
        if compaction is None:
            return
        cleaned = None
        try:
            compaction.run()
            if self.dice.random() < 0.3:
                self._append(COMPACTED, self._batch(COMPACTED, -1, transactional=False))
            compaction.adopt()
            if self.dice.random() < 0.3:
                log.settle()
            compaction.swap()
            cleaned = compaction.finish()
        except CompactionCancelled:
            pass
        self.manager.compaction_ended(compaction, cleaned)

    def remove_garbage(self) -> None:
        self.manager.directories[0].remove_garbage(self.now_ms).run()

    def restart(self) -> None:
        """Stop cleanly and start again."""
        self.manager.close(broker_epoch=7)
        for model in self.models.values():
            model.durable_offset = model.end_offset
        self.manager = self.open(self.disk)
        self._adopt_what_is_there()


def _digest(disk: MemoryFiles) -> bytes:
    digest = hashlib.blake2b(digest_size=8)
    for path, data in sorted(disk.contents().items()):
        digest.update(path.encode())
        digest.update(data)
    return digest.digest()
