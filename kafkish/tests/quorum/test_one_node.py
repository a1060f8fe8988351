"""A quorum of one: what was answered is there after a restart, and the image is what the log says."""

from kafkish.metadata.changes import Update
from kafkish.tests.quorum.node import Node
from kafkish_protocol.error_codes import ErrorCode


def test_new_node_leads_and_its_broker_is_unfenced() -> None:
    node = Node().start()
    assert node.controller.is_active
    assert node.broker.ready.is_done
    assert node.image.is_active(1)
    assert node.image.brokers[1].epoch == node.broker.epoch
    assert node.image.features.metadata_version == 30


def test_topic_is_in_the_image_when_the_answer_comes() -> None:
    node = Node().start()
    answer = node.create("a", partitions=3)
    assert not answer.is_done
    assert node.image.topic("a") is None
    answer.on_done(lambda _: seen.append(node.image.topic("a")))
    seen: list[object] = []
    node.world.settle()
    assert answer.result().topics[0].error_code == 0
    assert seen == [node.image.topics.by_name["a"]]
    assert [it.leader for it in node.image.topics.by_name["a"].partitions.values()] == [1, 1, 1]


def test_restart_keeps_topics() -> None:
    first = Node().start()
    first.created("a", "b")
    first.stop()
    second = Node(first.files, seed=2).start()
    assert second.image.topics.by_name.keys() == {"a", "b"}
    assert second.image.is_active(1)
    assert second.identity == first.identity
    second.created("c")
    assert second.create("a").result().topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS


def test_second_topic_of_the_same_name_is_refused_before_the_first_is_committed() -> None:
    node = Node().start()
    first, second = node.create("a"), node.create("a")
    node.world.settle()
    assert first.result().topics[0].error_code == ErrorCode.NONE
    assert second.result().topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS


def test_long_log_is_replayed_in_slices_and_told_as_one_image() -> None:
    first = Node().start()
    first.created("wide", partitions=3_000)
    for number in range(20):
        first.created(f"topic-{number}", partitions=100)
    assert first.quorum.log.log.size_bytes > 3 * 64 * 1024
    second = Node(first.files, seed=2).replay()
    [update] = second.updates
    assert update.after.topics == first.image.topics
    assert len(update.changes.created_topics) == 21


def test_late_listener_is_told_all_at_once() -> None:
    node = Node().start()
    node.created("a")
    seen: list[Update] = []
    node.quorum.subscribe(seen.append)
    assert [topic.name for topic in seen[0].after.topics.by_id.values()] == ["a"]
    assert len(seen[0].changes.created_topics) == 1
