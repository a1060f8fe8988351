"""What a broker does with its logs, at random, on a disk that crashes."""

import errno
from collections.abc import Callable

import pytest

from kafkish_storage.errors import CompactionCancelled, DiskFullError, OfflineError
from kafkish_storage.names import INDEX_KINDS, SNAPSHOT, TopicPartition
from kafkish_storage.producers import Origin
from kafkish_storage.tests.crash_model import Model
from kafkish_storage.tests.crash_world import BRIEF, COMPACTED, PLAIN, World
from kafkish_storage.tests.making import marker

DERIVED = (*INDEX_KINDS, SNAPSHOT, "leader-epoch-checkpoint", "transaction-index-checkpoint")


class Actions:
    """One broker's doings; `run` chooses among them by the world's dice."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.dice = world.dice

    def run(self, steps: int) -> None:
        world = self.world
        choices: list[tuple[int, Callable[[], None]]] = [
            (36, self.append), (7, self.transaction), (5, self.replicate), (2, self.append_to_full_disk),
            (8, self.flush), (4, self.roll), (4, world.checkpoint), (4, self.elect),
            (5, self.truncate), (1, self.truncate_fully), (2, self.delete_records), (5, self.retain),
            (9, self.compact), (4, self.remove_garbage), (2, self.recreate),
            (2, self.restart), (2, world.restart_after_crash), (1, self.fail_to_sync),
        ]  # fmt: skip
        actions = [action for weight, action in choices for _ in range(weight)]
        for _ in range(steps):
            action = self.dice.choice(actions)
            world.doing = action.__name__
            world.now_ms += self.dice.randrange(1, 60)
            world.disk.now_ms = world.now_ms
            action()

    def partition(self) -> TopicPartition:
        return self.dice.choice((PLAIN, PLAIN, COMPACTED, COMPACTED, BRIEF))

    # -- at the end

    def append(self) -> None:
        partition = self.partition()
        count = self.dice.choice((1, 1, 1, 2))
        producer_id = self.dice.choice((-1, -1, 1)) if count == 1 else -1
        self.world.append(partition, [self.world.batch(partition, producer_id) for _ in range(count)])

    def transaction(self) -> None:
        """Batches of one or two transactions, and perhaps their ends."""
        partition, world = self.partition(), self.world
        for _ in range(self.dice.randrange(1, 4)):
            producer_id = self.dice.choice((2, 3))
            entry = world.log(partition).producers.producers.get(producer_id)
            if entry and entry.has_open_transaction and self.dice.random() < 0.6:
                end = marker(self.dice.random() < 0.5, producer_id, timestamp=world.now_ms)
                world.append(partition, [end], Origin.COORDINATOR)
            else:
                world.append(partition, [world.batch(partition, producer_id, transactional=True)])

    def replicate(self) -> None:
        """Batches as a leader has numbered them; one that compacts leaves gaps."""
        world, log, model = self.world, self.world.log(PLAIN), self.world.models[PLAIN]
        batches, offset = [], log.end_offset
        for _ in range(self.dice.randrange(1, 5)):
            batches.append(world.numbered(world.batch(PLAIN), offset + self.dice.choice((0, 0, 0, 7))))
            offset = batches[-1].next_offset
        model.batches += batches
        log.append_as_follower(batches, world.epoch, world.now_ms)
        log.update_high_watermark(log.end_offset)

    def append_to_full_disk(self) -> None:
        """What could not be appended never was: it may be found until the caller is told, and not after."""
        partition, disk = self.partition(), self.world.disk
        model = self.world.models[partition]
        batches, end_offset = list(model.batches), self.world.log(partition).end_offset
        disk.capacity_bytes = sum(map(len, disk.contents().values())) + self.dice.randrange(60)
        try:
            self.world.append(partition, [self.world.batch(partition)])
        except DiskFullError:
            model.batches = batches
            assert self.world.log(partition).end_offset == end_offset
        disk.capacity_bytes = None

    def flush(self) -> None:
        self.world.flush(self.partition(), with_append=self.dice.random() < 0.3)

    def fail_to_sync(self) -> None:
        """A disk that fails is not trusted again: nothing more is acknowledged until the broker has started anew."""
        partition, world = self.partition(), self.world
        world.append(partition, [world.batch(partition)])
        world.disk.fault = lambda operation, _: errno.EIO if operation == "sync" else None
        with pytest.raises(OfflineError):
            world.flush(partition)
        with pytest.raises(OfflineError):
            world.flush(partition)
        with pytest.raises(OfflineError):
            self.append()
        world.disk.fault = None
        world.models[partition].batches = [
            one for one in world.models[partition].batches if one.next_offset <= world.log(partition).end_offset
        ]
        world.restart_after_crash()

    def roll(self) -> None:
        self.world.log(self.partition()).roll(self.world.now_ms)

    def elect(self) -> None:
        self.world.epoch += 1

    # -- cutting

    def truncate(self) -> None:
        log, model = self.world.log(PLAIN), self.world.models[PLAIN]
        late = [one.base_offset for one in model.batches if one.base_offset >= log.start_offset][-6:]
        if not late:
            return
        offset = self.dice.choice(late)
        model.other = model.batches
        model.batches = [one for one in model.batches if one.base_offset < offset]
        model.durable_offset = min(model.durable_offset, model.end_offset)
        model.durable_start = min(model.durable_start, model.end_offset)
        log.truncate_to(offset, self.world.now_ms)
        model.start_offset, model.other = log.start_offset, None
        self.world.learn_sequences(PLAIN)

    def truncate_fully(self) -> None:
        """A follower that is too far behind starts anew. Its leader's offsets go on."""
        log, model = self.world.log(PLAIN), self.world.models[PLAIN]
        model.other, model.batches = model.batches, []
        model.durable_offset = model.durable_start = 0
        model.start_offset = log.end_offset + self.dice.choice((0, 5))
        log.truncate_fully(model.start_offset, self.world.now_ms)
        model.other = None
        self.world.learn_sequences(PLAIN)

    def delete_records(self) -> None:
        log, model = self.world.log(PLAIN), self.world.models[PLAIN]
        log.update_high_watermark(log.end_offset)
        model.start_offset = self.dice.randrange(log.start_offset, log.end_offset + 1)
        log.advance_start(model.start_offset)

    def retain(self) -> None:
        log, model = self.world.log(PLAIN), self.world.models[PLAIN]
        log.update_high_watermark(log.end_offset)
        model.start_offset = log.end_offset
        job = self.world.manager.retain([log], self.world.now_ms)
        job.run()
        model.durable_start = log.start_offset
        job.finish()
        model.start_offset = log.start_offset

    # -- the rest

    def compact(self) -> None:
        world, log = self.world, self.world.log(COMPACTED)
        log.update_high_watermark(log.end_offset)
        if self.dice.random() < 0.7:
            world.flush(COMPACTED)
            world.checkpoint()
        compaction = world.manager.next_compaction(world.now_ms)
        if compaction is None:
            return
        cleaned = None
        try:
            compaction.run()
            if self.dice.random() < 0.3:
                world.append(COMPACTED, [world.batch(COMPACTED)])
            compaction.adopt()
            if self.dice.random() < 0.3:
                log.settle()
            compaction.swap()
            cleaned = compaction.finish()
        except CompactionCancelled:
            pass
        world.manager.compaction_ended(compaction, cleaned)

    def remove_garbage(self) -> None:
        self.world.manager.directories[0].remove_garbage(self.world.now_ms).run()

    def recreate(self) -> None:
        """Delete a topic and create one with the same name."""
        old = self.world.models[BRIEF]
        new = self.world.models[BRIEF] = Model(is_compacted=False, other=old.batches, start_offset=old.start_offset)
        self.world.manager.delete(BRIEF, self.world.now_ms)
        self.world.create(BRIEF)
        new.other, new.start_offset = None, 0
        self.world.learn_sequences(BRIEF)

    def restart(self) -> None:
        """Stop cleanly and start again."""
        world = self.world
        world.manager.close(broker_epoch=7)
        for partition, model in world.models.items():
            model.durable_offset = world.log(partition).end_offset
        if self.dice.random() < 0.5:
            self.lose_derived_files()
        world.manager = world.open(world.disk)
        world.adopt_what_is_there()

    def lose_derived_files(self) -> None:
        """Somebody removes files of which all can be found in the logs: any of them, and not durably."""
        disk, share = self.world.disk, self.dice.choice((0.2, 0.5, 1.0))
        for path in disk.contents():
            if path.endswith(DERIVED) and self.dice.random() < share:
                disk.remove(path)
