"""Snapshots: when they are written, what may be deleted behind them, and that a node starts from them."""

from typing import Any

from kafkish.controller.delete_topics import delete_topics
from kafkish.quorum.runtime import Caller
from kafkish.tests.quorum.node import Node
from kafkish_protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafkish_storage.files.memory import MemoryFiles

HOUR_MS = 3_600_000


def log_files(node: Node) -> list[str]:
    assert isinstance(node.files, MemoryFiles)
    return sorted(path for path in node.files.contents() if path.endswith((".log", ".checkpoint")))


def test_snapshot_is_written_after_enough_bytes_and_a_restart_begins_there() -> None:
    first = Node(metadata_log_max_record_bytes_between_snapshots="1000").start()
    for number in range(10):
        first.created(f"topic-{number}")
    latest = first.quorum.log.latest_snapshot
    assert latest is not None
    assert latest.offset > 20
    second = Node(first.files, seed=2)
    second.quorum.follower.replay()  # before anything of the log is known to be committed
    assert second.quorum.follower.applied_offset == latest.offset
    second.replay()
    assert second.image.topics == first.image.topics


def test_snapshot_is_written_after_an_hour_if_there_is_anything_new() -> None:
    node = Node().start()
    node.created("a")
    before = node.quorum.log.latest_snapshot
    node.world.now_ms += HOUR_MS
    node.world.settle(1_000)
    latest = node.quorum.log.latest_snapshot
    assert latest != before
    node.world.now_ms += 3 * HOUR_MS
    node.world.settle(1_000)
    assert node.quorum.log.latest_snapshot == latest


def test_big_snapshot_is_written_in_slices_while_topics_are_created() -> None:
    node = Node(metadata_log_max_record_bytes_between_snapshots="200000").start()
    node.created("big", partitions=5_000)
    assert len(node.quorum.log.snapshots.ids) == 2
    node.created("bigger", partitions=5_000)
    latest = node.quorum.log.latest_snapshot
    assert latest is not None
    batches = node.quorum.log.snapshots.read(latest).batches
    assert len(batches) > 10
    assert Node(node.files, seed=3).replay().image.topics == node.image.topics


def test_snapshot_is_of_the_moment_that_its_name_says() -> None:
    node = Node(metadata_log_max_record_bytes_between_snapshots="1000").start()
    while not node.world.jobs:  # until a snapshot is being written
        answer = node.create(f"topic-{node.quorum.log.end_offset}")
        while not answer.is_done:
            node.world.run_job()
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name) for name in node.image.topics.by_name])
    node.controller.submit(delete_topics, request, Caller(api_version=6))
    node.world.settle()
    assert not node.image.topics.by_name
    assert not Node(node.files, seed=3).start().image.topics.by_name


def test_old_snapshots_and_segments_go_when_they_take_too_much() -> None:
    small: dict[str, Any] = {
        "metadata_log_max_record_bytes_between_snapshots": "1000",
        "metadata_max_retention_bytes": "8000",
    }
    node = Node(segment_bytes=4_000, **small).start()
    for number in range(60):
        node.created(f"topic-{number}")
    node.world.settle(120_000)
    log = node.quorum.log
    assert log.start_offset > 0
    assert log.earliest_snapshot is not None
    assert log.start_offset == log.earliest_snapshot.offset
    assert not any(path.endswith(f"/{0:020}.log") for path in log_files(node))
    assert len(log.snapshots.ids) < 5
    assert Node(node.files, seed=2, **small).replay().image.topics == node.image.topics
    Node(node.files, seed=3, **small).start().created("one-more")


def test_old_snapshots_go_when_their_time_is_over_but_never_the_last() -> None:
    node = Node(metadata_log_max_record_bytes_between_snapshots="1000").start()
    for number in range(20):
        node.created(f"topic-{number}")
    assert len(node.quorum.log.snapshots.ids) > 2
    latest = node.quorum.log.latest_snapshot
    node.world.now_ms += 8 * 24 * HOUR_MS
    node.world.settle(60_000)
    assert node.quorum.log.snapshots.ids == [latest]


def test_unfinished_snapshot_of_a_crash_is_removed() -> None:
    first = Node().start()
    first.created("a")
    path = f"{first.quorum.log.directory}/{7:020}-{1:010}.checkpoint.part"
    first.files.open(path, create=True).write(0, [b"half"], 4)
    second = Node(first.files, seed=2).start()
    assert second.files.stat(path) is None
    assert second.image.topics.by_name.keys() == {"a"}
