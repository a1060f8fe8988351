"""Housekeeping on real logs: what expires goes, what is superseded goes, what is appended gets to the disk."""

from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any

import pytest

from kafkish.partitions import housekeeping
from kafkish.partitions.cleaning import Cleaning
from kafkish.partitions.housekeeping import Housekeeping
from kafkish.tests.partitions.world import World, batch_of
from kafkish.workers import run_job
from kafkish_protocol.records import Batch, read_batches
from kafkish_storage import checkpoint


def cleaning_of(world: World) -> Cleaning:
    return Cleaning(
        world.logs,
        lambda: world.publisher.settings,
        workers=world.workers,
        wall_ms=lambda: world.now_ms,
        monotonic_s=monotonic,
    )


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    Housekeeping(
        made.logs,
        made.table,
        made.flusher,
        cleaning_of(made),
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


TABLE: dict[str, Any] = {"cleanup_policy": "compact", "segment_ms": "1000", "min_cleanable_dirty_ratio": "0.01"}


def test_logs_are_compacted_one_after_the_other_without_a_rest(world: World) -> None:
    for name in "abcdef":
        world.create_topic(name, **TABLE)
        fill(world, name, 5, step_ms=1500)
    world.timers.pass_ms(20_000)  # log.cleaner.backoff.ms is 15 seconds
    assert [len(values(world, name)) for name in "abcdef"] == [2] * 6


def test_a_log_that_cannot_be_compacted_does_not_hold_up_others(world: World) -> None:
    for name in ("damaged", "table"):
        world.create_topic(name, **TABLE)
        fill(world, name, 5, step_ms=1500)
    path = world.directory / "damaged-0" / f"{0:020d}.log"
    path.write_bytes(b"\xff" * path.stat().st_size)
    world.timers.pass_ms(60_000)
    assert len(values(world, "table")) == 2


def test_a_throttled_compaction_ends_when_the_broker_stops(tmp_path: Path) -> None:
    world = World(tmp_path, **{"log.cleaner.io.max.bytes.per.second": "1"})
    world.create_topic("table", **TABLE)
    fill(world, "table", 5, step_ms=1500)
    run_job(world.workers, world.partition("table").log.flush())
    cleaning = cleaning_of(world)
    [directory] = world.logs.directories
    run_job(world.workers, directory.checkpoint_recovery_points())
    world.workers.is_eager = False
    cleaning.compact()
    assert len(cleaning.under_way) == 1
    working = Thread(target=world.workers.finish)
    working.start()
    cleaning.stop()
    working.join(20)
    assert not working.is_alive()
    assert cleaning.finished == 0
    assert len(values(world, "table")) == 5


def test_retention_is_looked_after_soon_after_a_start(world: World) -> None:
    world.create_topic("orders", retention_ms="5000", segment_ms="1000")
    fill(world, "orders", 10, step_ms=1500)
    world.timers.pass_ms(29_000)
    assert world.partition("orders").log.start_offset == 0
    world.timers.pass_ms(2_000)  # log.initial.task.delay.ms is 30 seconds
    assert world.partition("orders").log.start_offset > 0


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
