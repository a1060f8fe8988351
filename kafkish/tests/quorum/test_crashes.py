"""Whatever was answered survives a crash between any two changes of the disk."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import pytest

from kafkish.deferred import Deferred
from kafkish.metadata.image import MetadataImage
from kafkish.tests.quorum.crash import Crash, crash_after
from kafkish.tests.quorum.node import Node
from kafkish_storage.files.memory import MemoryFiles

SMALL: dict[str, Any] = {
    "metadata_log_max_record_bytes_between_snapshots": "700",
    "metadata_max_retention_bytes": "3000",
    "segment_bytes": 1_000,
}


def note(answered: list[str], name: str, done: Deferred[Any]) -> None:
    if done.result().topics[0].error_code == 0:
        answered.append(name)


def live(files: MemoryFiles, answered: list[str]) -> None:
    """A life with topics, snapshots and deletions, which ends in a clean stop. Keeps account of what was answered."""
    node = Node(files, seed=len(answered), **SMALL).start()
    for number in range(len(answered), len(answered) + 6):
        name = f"topic-{number}"
        node.create(name).on_done(partial(note, answered, name))
        if number % 2:
            node.world.settle()
    node.world.settle(120_000)
    node.stop()


def same(one: MetadataImage, other: MetadataImage) -> bool:
    return (one.topics, one.configs, one.features) == (other.topics, other.configs, other.features)


@pytest.mark.parametrize("seed", range(4))  # together, all changes
def test_answered_topics_survive_a_crash_at_any_change(seed: int, show: Callable[[str], None]) -> None:
    crashes, count = 0, seed
    while True:
        files, dice, answered = MemoryFiles(), Random(seed * 1_000 + count), list[str]()
        try:
            with crash_after(files, count):
                live(files, answered)
                live(files, answered)
        except Crash:
            crashes += 1
            check(files.crashed_at_random(dice), answered, f"seed {seed}, change {count}")
        else:
            break
        count += 4
    show(f"quorum: {crashes} crashes between changes of the disk, no answered topic lost (seed {seed})")
    assert crashes > 50


def check(files: MemoryFiles, answered: list[str], where: str) -> None:
    node = Node(files, seed=77, **SMALL).start()
    assert node.failures == [], where
    assert node.image.is_active(1), where
    assert set(answered) <= node.image.topics.by_name.keys(), where
    node.created("after")
    node.stop()
    again = Node(files, seed=78, **SMALL).start()
    assert set(answered) | {"after"} <= again.image.topics.by_name.keys(), where
    assert again.image.topics.by_name.keys() == node.image.topics.by_name.keys(), where


def test_crash_while_starting_after_a_crash() -> None:
    files = MemoryFiles()
    node = Node(files, **SMALL).start()
    node.created("a", "b", "c")
    for count in range(0, 60, 3):
        crashed = files.crashed_at_random(Random(count))
        try:
            with crash_after(crashed, count):
                Node(crashed, seed=2, **SMALL).start()
        except Crash:
            check(crashed.crashed_at_random(Random(count)), ["a", "b", "c"], f"change {count}")


def test_replay_of_the_log_gives_the_image_that_the_snapshot_gives() -> None:
    with_snapshots, without = Node(**SMALL).start(), Node().start()
    for node in (with_snapshots, without):
        for number in range(12):
            node.created(f"topic-{number}")
    reopened = Node(with_snapshots.files, seed=5, **SMALL)
    reopened.quorum.start()
    reopened.world.settle(100)
    plain = Node(without.files, seed=5)
    plain.quorum.start()
    plain.world.settle(100)
    latest = reopened.quorum.log.latest_snapshot
    assert latest is not None
    assert latest.offset > 0
    assert same(reopened.image, plain.image)
    assert reopened.image.brokers.keys() == plain.image.brokers.keys()
