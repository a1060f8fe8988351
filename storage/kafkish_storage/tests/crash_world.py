"""A broker's storage on a disk that may lose its power at any moment, with a model of what it holds.

After every change on the disk, `World` takes some of the states in which a crash could leave it, starts from each, and
compares what is found with the model. `crash_actions` does things to it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from kafkish_protocol.records import Batch, assign_offset
from kafkish_storage.config import CleanerConfig, LogConfig
from kafkish_storage.files.memory import MemoryFiles
from kafkish_storage.log import Log
from kafkish_storage.manager import LogManager, NewLog
from kafkish_storage.names import TopicPartition
from kafkish_storage.opening import StorageConfig
from kafkish_storage.producers import Origin
from kafkish_storage.tests.crash_model import Model
from kafkish_storage.tests.making import keyed

PLAIN = TopicPartition("plain", 0)
COMPACTED = TopicPartition("compacted", 0)
BRIEF = TopicPartition("brief", 0)  # deleted and created again now and then
DATA = "/data"
KEYS = 10

_SMALL = LogConfig(segment_bytes=1500, index_interval_bytes=200, segment_index_bytes=120, file_delete_delay_ms=50)
_COMPACT = frozenset({"compact"})
_CONFIGS = {
    "plain": replace(_SMALL, retention_ms=400),
    "brief": _SMALL,
    "compacted": replace(_SMALL, cleanup_policy=_COMPACT, min_cleanable_dirty_ratio=0.01, delete_retention_ms=100),
}
_CLEANER = CleanerConfig(dedupe_buffer_bytes=24 * 9, io_buffer_bytes=700)  # fewer keys than there are


class World:
    """One run, decided by its seed."""

    def __init__(self, seed: int, crashes_per_change: int = 2, disk: MemoryFiles | None = None) -> None:
        self.seed = seed
        self.dice = Random(seed)
        self.crash_dice = Random(seed + 1)
        self.crashes_per_change = crashes_per_change
        self.distinct: set[bytes] = set()
        self.doing = "start"
        self.checking = PLAIN
        self.now_ms = 1000
        self.epoch = 0
        self.sequences: dict[tuple[TopicPartition, int], int] = {}
        self.models = {name: Model(is_compacted=name == COMPACTED) for name in (PLAIN, COMPACTED, BRIEF)}
        self.disk = disk or MemoryFiles()
        self.disk.on_change = self.crash
        self.manager = self.open(self.disk)
        self.create(PLAIN, COMPACTED, BRIEF)

    def open(self, disk: MemoryFiles) -> LogManager:
        configs = {name: replace(one, preallocate=self.seed % 4 == 3) for name, one in _CONFIGS.items()}
        config = StorageConfig(config_of=configs.__getitem__, cleaner=_CLEANER, threads_per_directory=1)
        return LogManager.open(disk, [DATA], config, now_ms=self.now_ms, dice=Random(0))

    def create(self, *partitions: TopicPartition) -> None:
        topic_id = f"{self.dice.getrandbits(64):022d}"
        job = self.manager.create([NewLog(partition, topic_id) for partition in partitions], self.now_ms)
        job.run()
        job.finish()

    def log(self, partition: TopicPartition) -> Log:
        log = self.manager.get(partition)
        assert log is not None, f"seed {self.seed}, {self.doing}, {partition} is gone"
        return log

    # -- crashing

    def crash(self, operation: str, path: str) -> None:
        """Start from some of the states in which the disk may be found now."""
        for _ in range(self.crashes_per_change):
            disk = self.disk.crashed_at_random(self.crash_dice)
            disk.capacity_bytes = None
            digest = _digest(disk)
            if digest in self.distinct:
                continue
            self.distinct.add(digest)
            try:
                self._check(disk)
            except Exception as error:
                where = f"seed {self.seed}, {self.doing}, {self.checking}, after {operation} {path}"
                raise AssertionError(f"{where}, state {len(self.distinct)}: {error}") from error

    def _check(self, disk: MemoryFiles) -> None:
        manager = self.open(disk)
        assert not manager.offline, manager.offline
        assert not manager.directories[0].broken, manager.directories[0].broken
        for partition, model in self.models.items():
            log = manager.get(partition)
            if log is None:
                assert model.durable_offset == 0, f"{partition} is gone"
            else:
                self.checking = partition
                model.check(log, self.crash_dice)

    def restart_after_crash(self) -> None:
        """Lose the power for good, and go on with what is left."""
        self.disk.on_change = None
        self.disk = self.disk.crashed_at_random(self.crash_dice)
        self.disk.on_change = self.crash
        self.manager = self.open(self.disk)
        self.adopt_what_is_there()

    def adopt_what_is_there(self) -> None:
        """Make the models what was found; it has been checked."""
        for partition, model in self.models.items():
            log = self.log(partition)
            model.batches = [one for one in model.batches if one.next_offset <= log.end_offset]
            model.start_offset = log.start_offset
            log.update_high_watermark(log.end_offset)
            self.learn_sequences(partition)

    def learn_sequences(self, partition: TopicPartition) -> None:
        for producer_id in (1, 2, 3):
            entry = self.log(partition).producers.producers.get(producer_id)
            self.sequences[partition, producer_id] = entry.last_sequence + 1 if entry else 0

    # -- appending

    def batch(self, partition: TopicPartition, producer_id: int = -1, *, transactional: bool = False) -> Batch:
        dice = self.dice
        size = dice.choice((1, 30, 200))
        values = [None if dice.random() < 0.2 else dice.randbytes(size) for _ in range(dice.randrange(1, 4))]
        pairs = [(b"key%d" % dice.randrange(KEYS), value) for value in values]
        if producer_id < 0:
            return keyed(pairs, self.now_ms + dice.randrange(-40, 1))
        sequence = self.sequences.get((partition, producer_id), 0)
        options = {"producer_id": producer_id, "producer_epoch": 0, "base_sequence": sequence}
        return keyed(pairs, self.now_ms, transactional=transactional, **options)

    def numbered(self, one: Batch, offset: int) -> Batch:
        """The batch as a leader writes it."""
        data = bytearray(one.view)
        assign_offset(data, 0, offset, self.epoch)
        return Batch(bytes(data))

    def append(self, partition: TopicPartition, batches: Sequence[Batch], origin: Origin = Origin.CLIENT) -> None:
        """Append as a leader. From the first byte on, the batches may be found after a crash."""
        log, first = self.log(partition), batches[0]
        offset = log.end_offset
        for one in batches:
            self.models[partition].batches.append(self.numbered(one, offset))
            offset += one.last_offset_delta + 1
        guard = None
        if first.is_transactional and not first.is_control:
            guard = log.producers.start_verification(
                first.producer_id, first.base_sequence, 0, supports_epoch_bump=False, now_ms=self.now_ms
            )
        log.append_as_leader(batches, self.epoch, self.now_ms, origin=origin, guard=guard)
        if first.has_producer_id and not first.is_control:
            self.sequences[partition, first.producer_id] = first.last_sequence + 1
        if self.dice.random() < 0.8:
            log.update_high_watermark(log.end_offset)

    def flush(self, partition: TopicPartition, *, with_append: bool = False) -> None:
        log = self.log(partition)
        job = log.flush()
        if with_append:
            self.append(partition, [self.batch(partition)])
        try:
            job.run()
        finally:
            self.models[partition].durable_offset = job.finish()

    def checkpoint(self) -> None:
        for job in self.manager.directories[0].checkpoint_all():
            job.run()
            job.finish()
        for partition, model in self.models.items():
            model.durable_start = self.log(partition).start_offset


def _digest(disk: MemoryFiles) -> bytes:
    digest = hashlib.blake2b(digest_size=8)
    for path, data in sorted(disk.contents().items()):
        digest.update(path.encode())
        digest.update(data)
    return digest.digest()
