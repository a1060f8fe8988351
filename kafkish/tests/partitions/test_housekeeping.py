"""Housekeeping on real logs: what expires goes, what is superseded goes, what is appended gets to the disk."""

from pathlib import Path

import pytest

from kafkish.partitions import housekeeping
from kafkish.partitions.housekeeping import Housekeeping
from kafkish.tests.partitions.world import World, batch_of
from kafkish_protocol.records import Batch, read_batches
from kafkish_storage import checkpoint


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    Housekeeping(
        made.logs,
        made.table,
        made.flusher,
        lambda: made.publisher.settings,
        timers=made.timers,
        workers=made.workers,
        wall_ms=lambda: made.now_ms,
    ).start()
    return made


def fill(world: World, topic: str, count: int, *, step_ms: int = 1000) -> None:
    for number in range(count):
        world.now_ms += step_ms
        batch = batch_of(b"%d" % number, timestamp=world.now_ms)
        world.partition(topic).produce(Batch(batch), -1, world.now_ms)


def values(world: World, topic: str) -> list[bytes | None]:
    log = world.partition(topic).log
    found, offset = [], log.start_offset
    while (slice_ := log.read(offset, 1 << 20).records) is not None:
        for batch in read_batches(slice_.read()):
            found += [record.value for record in batch.records()]
            offset = batch.next_offset
    return found


def test_old_segments_expire_and_their_files_follow(world: World) -> None:
    world.create_topic("orders", retention_ms="5000", segment_ms="1000", file_delete_delay_ms="60000")
    fill(world, "orders", 10, step_ms=1500)
    segments = len(list(world.partition("orders").log.segments))
    world.timers.pass_ms(300_000)
    log = world.partition("orders").log
    assert log.start_offset > 0
    assert len(list(log.segments)) < segments
    world.now_ms += 61_000
    world.timers.pass_ms(10_000)
    assert not list(world.directory.rglob("*.deleted"))


def test_superseded_values_are_compacted_away(world: World) -> None:
    world.create_topic("table", cleanup_policy="compact", segment_ms="1000", min_cleanable_dirty_ratio="0.01")
    fill(world, "table", 10, step_ms=1500)
    world.timers.pass_ms(60_000)
    assert values(world, "table") == [b"8", b"9"]  # one key: its last value below the active segment, and the active
    assert (world.directory / checkpoint.CLEANED_OFFSETS).exists()


def test_flush_ms_is_kept_without_further_appends(world: World) -> None:
    world.create_topic("orders", flush_ms="3000")
    fill(world, "orders", 1)
    log = world.partition("orders").log
    world.timers.pass_ms(2_000)
    assert log.recovery_point == 0
    world.now_ms += 3_000
    world.timers.pass_ms(2_000)
    assert log.recovery_point == 1


def test_what_a_crash_would_have_to_read_again_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "_MAX_TO_RECOVER_BYTES", 500)
    world.create_topic("orders")
    fill(world, "orders", 3)
    log = world.partition("orders").log
    world.timers.pass_ms(3_000)
    assert log.recovery_point == 0
    fill(world, "orders", 20)
    world.timers.pass_ms(3_000)
    assert log.recovery_point == log.checkpointed_recovery_point == 23


def test_a_disk_that_fails_ends_no_duty(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.create_topic("orders", retention_ms="5000", segment_ms="1000")
    fill(world, "orders", 3, step_ms=1500)

    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr("os.fdatasync", fail)
        broken.setattr("os.fsync", fail)
        world.timers.pass_ms(600_000)
    world.timers.pass_ms(600_000)  # each duty looks again, and says again that the directory is offline
    assert world.logs.offline
