"""Partitions that come, change and go by the thousand: in turns with others, and without a trace when they are gone."""

import gc
from pathlib import Path

import pytest

from kafkish.metadata.changes import Update
from kafkish.partitions import table
from kafkish.partitions.partition import Partition
from kafkish.tests.partitions.world import NOW_MS, World, batch_of
from kafkish_protocol.records import Batch
from kafkish_storage import Log

MANY = 25


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A node on which a turn takes ten partitions, whose workers wait for the test."""
    monkeypatch.setattr(table, "_AT_ONCE", 10)
    made = World(tmp_path)
    made.workers.is_eager = False
    return made


def turns(world: World) -> list[int]:
    """How many partitions there are after each turn, until nothing is left to do."""
    seen = []
    while world.workers.finish_one():
        seen.append(len(world.table))
    return seen


def test_many_partitions_are_made_in_turns_and_seen_when_all_are_there(world: World) -> None:
    world.create_topic("big", MANY)
    assert world.publisher.image.topic("big") is None
    assert turns(world) == [10, 10, 20, 20, 25]  # made, and in between a turn for others
    assert world.publisher.image.topic("big") is not None
    assert all(partition.is_leader for partition in world.table)


def test_many_partitions_go_in_turns(world: World) -> None:
    topic_id = world.create_topic("big", MANY)
    turns(world)
    world.delete_topic(topic_id)
    assert turns(world) == [5, 0]
    assert world.publisher.image.topic("big") is None


def test_what_comes_meanwhile_waits_for_its_turn(world: World) -> None:
    world.create_topic("big", MANY)
    world.create_topic("small", 1)
    orders: list[str] = []

    def note(update: Update, _: object) -> None:
        orders.extend(topic.name for topic in update.after.topics.by_name.values())

    world.publisher.subscribe(note)
    turns(world)
    assert orders == ["big", "big", "small"]


def test_partitions_that_cannot_be_made_do_not_keep_others_from_it(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "big-3").write_text("a file where the log's directory should be")
    world.create_topic("big", 10)
    world.create_topic("more", 1)  # its only directory is offline by now
    turns(world)
    assert "big-3" in caplog.text
    assert {each.partition for each in world.logs.logs} == {(each.topic, each.index) for each in world.table}
    assert all(partition.is_leader for partition in world.table)
    assert world.publisher.image.topic("more") is not None


def test_deleted_partitions_leave_nothing_for_the_collector(world: World) -> None:
    """The collector never looks at partitions: `gc.freeze` takes them out of its sight when they are made."""
    gc.collect()
    gc.disable()
    try:
        topic_id = world.create_topic("big", MANY)
        turns(world)
        for partition in world.table:
            partition.produce(Batch(batch_of(b"x")), -1, NOW_MS)
            partition.read(0, 1 << 20)
        del partition
        world.delete_topic(topic_id)
        turns(world)
        left = [each for each in gc.get_objects() if isinstance(each, Partition | Log)]
    finally:
        gc.enable()
    assert left == []
