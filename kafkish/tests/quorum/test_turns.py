"""Large requests leave the loop to others between their turns, and yet nothing comes between decision and record."""

from collections.abc import Iterator
from typing import Any

import pytest

from kafkish.controller.create_topics import create_topics
from kafkish.controller.operation import ApiError
from kafkish.deferred import Deferred
from kafkish.quorum.runtime import Caller
from kafkish.quorum.turns import Turns
from kafkish.tests.quorum.node import Node, World
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest

MANY = 9_000


def turns_of_others(node: Node, answer: Deferred[Any]) -> int:
    """How often something else can run until the answer is there."""
    turns = 0

    def tick() -> None:
        nonlocal turns
        turns += 1
        if not answer.is_done:
            node.world.call_later(0, tick)

    node.world.call_later(0, tick)
    node.world.settle()
    return turns


def test_large_request_leaves_the_loop_to_others() -> None:
    node = Node().start()
    answer = node.create("big", partitions=MANY)
    between_steps, between_slices = 2, MANY // 2_000
    assert turns_of_others(node, answer) >= between_steps + between_slices
    assert answer.result().topics[0].error_code == 0
    topic = node.image.topic("big")
    assert topic is not None
    assert len(topic.partitions) == MANY
    assert Node(node.files, seed=2).replay().image.topics == node.image.topics


def test_request_in_between_waits_and_sees_what_came_before_it() -> None:
    node = Node().start()
    first, second = node.create("big", partitions=MANY), node.create("big")
    assert not second.is_done
    node.world.settle()
    assert first.result().topics[0].error_code == 0
    assert second.result().topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS


def test_image_in_the_midst_of_a_batch_is_the_one_before_it() -> None:
    node = Node().start()
    answer = node.create("big", partitions=MANY)
    seen: set[int] = set()

    def look() -> None:
        topic = node.image.topic("big")
        seen.add(0 if topic is None else len(topic.partitions))
        if not answer.is_done:
            node.world.call_later(0, look)

    look()
    node.world.settle()
    assert seen == {0, MANY}


def test_lost_leadership_in_between_ends_the_request_and_writes_nothing() -> None:
    node = Node().start()
    answer = node.create("big", partitions=MANY)
    node.quorum.resign(node.quorum.epoch)
    node.world.settle(10_000)
    with pytest.raises(ApiError) as raised:
        answer.result()
    assert raised.value.code == ErrorCode.NOT_CONTROLLER
    assert node.image.topic("big") is None
    node.created("small")


def test_what_the_controller_does_by_itself_waits_too() -> None:
    node = Node().start()
    answer = node.create("big", partitions=MANY)
    assert node.controller.write(lambda _image, _context: []) == -1
    node.world.settle()
    assert answer.is_done
    assert node.controller.write(lambda _image, _context: []) == 0


# -- deadlines


def create_within(node: Node, name: str, patience_ms: int) -> Deferred[Any]:
    request = CreateTopicsRequest(topics=[CreatableTopic(name=name, num_partitions=1, replication_factor=1)])
    caller = Caller(api_version=7, deadline_ms=node.world.monotonic_ms() + patience_ms)
    return node.controller.submit(create_topics, request, caller)


def test_request_that_waits_for_its_turn_beyond_its_deadline_is_refused() -> None:
    node = Node().start()
    node.create("big", partitions=MANY)
    impatient, patient = create_within(node, "impatient", 5), create_within(node, "patient", 50)
    node.world.now_ms += 10
    node.world.settle()
    with pytest.raises(ApiError) as raised:
        impatient.result()
    assert raised.value.code == ErrorCode.REQUEST_TIMED_OUT
    assert patient.result().topics[0].error_code == 0
    assert (node.image.topic("impatient") is None, node.image.topic("patient") is None) == (True, False)


def test_deadline_counts_until_the_turn_comes_and_not_until_the_disk_has_it() -> None:
    node = Node().start()
    answer = create_within(node, "a", 5)
    node.world.now_ms += 1_000
    node.world.settle()
    assert answer.result().topics[0].error_code == 0


# -- the queue itself


def test_piece_of_work_that_fails_keeps_nobody_waiting(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    turns, done = Turns(world), []

    def work(name: str) -> Iterator[None]:
        yield
        if name == "bad":
            raise ValueError(name)
        done.append(name)

    for name in ("first", "bad", "last"):
        turns.add(work(name))
    assert len(turns) == 3
    world.settle()
    assert (done, len(turns)) == (["first", "last"], 0)
    assert "bad" in caplog.text
