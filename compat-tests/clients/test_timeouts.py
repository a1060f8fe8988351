"""`timeout_ms` of what only the controller can do: who has no time left when the turn comes is refused."""

from collections.abc import Callable
from typing import Any

import control
import pytest
from kafka.protocol.admin import (
    AlterPartitionReassignmentsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    ElectLeadersRequest,
)
from wire import Wire

TIMED_OUT, DUPLICATE = 7, 42
NO_TIME = [0, -1]


def create(wire: Wire, timeout_ms: int, *names: str) -> list[int]:
    entry = CreateTopicsRequest.CreatableTopic
    topics = [entry(name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]) for name in names]
    request = CreateTopicsRequest(topics=topics, timeout_ms=timeout_ms, validate_only=False)
    return [topic.error_code for topic in wire.send(request, 7).topics]


def add_partitions(wire: Wire, timeout_ms: int, *names: str) -> list[int]:
    entry = CreatePartitionsRequest.CreatePartitionsTopic
    topics = [entry(name=name, count=9, assignments=None) for name in names]
    request = CreatePartitionsRequest(topics=topics, timeout_ms=timeout_ms, validate_only=False)
    return [result.error_code for result in wire.send(request, 3).results]


def delete(wire: Wire, timeout_ms: int, *names: str) -> list[int]:
    entry = DeleteTopicsRequest.DeleteTopicState
    topics = [entry(name=name, topic_id=control.NO_TOPIC_ID) for name in names]
    answer = wire.send(DeleteTopicsRequest(topics=topics, timeout_ms=timeout_ms), 6)
    return [topic.error_code for topic in answer.responses]


def elect(wire: Wire, timeout_ms: int, *names: str) -> list[int]:
    entry = ElectLeadersRequest.TopicPartitions
    asked = [entry(topic=name, partitions=[0]) for name in names]
    request = ElectLeadersRequest(election_type=0, topic_partitions=asked, timeout_ms=timeout_ms)
    answer = wire.send(request, 2)
    rows = [row.error_code for topic in answer.replica_election_results for row in topic.partition_result]
    assert answer.error_code == (rows[0] if rows else 0), "as the rows say"
    return rows


def reassign(wire: Wire, timeout_ms: int, *names: str) -> list[int]:
    entry = AlterPartitionReassignmentsRequest.ReassignableTopic
    part = entry.ReassignablePartition
    topics = [entry(name=name, partitions=[part(partition_index=0, replicas=[1])]) for name in names]
    answer = wire.send(
        AlterPartitionReassignmentsRequest(topics=topics, timeout_ms=timeout_ms, allow_replication_factor_change=True),
        1,
    )
    rows = [row.error_code for topic in answer.responses for row in topic.partitions]
    assert answer.error_code == (rows[0] if rows else 0), "as the rows say"
    return rows


Ask = Callable[..., list[int]]
ALL: list[Any] = [create, add_partitions, delete, elect, reassign]


@pytest.mark.parametrize("timeout_ms", NO_TIME)
@pytest.mark.parametrize("ask", ALL, ids=lambda ask: ask.__name__)
def test_request_without_time_is_refused(wire: Wire, topic: str, ask: Ask, timeout_ms: int) -> None:
    assert ask(wire, timeout_ms, topic) == [TIMED_OUT]


@pytest.mark.parametrize("ask", ALL, ids=lambda ask: ask.__name__)
def test_request_that_asks_for_nothing_needs_no_time(wire: Wire, ask: Ask) -> None:
    assert ask(wire, 0) == []


@pytest.mark.parametrize("timeout_ms", NO_TIME)
def test_what_was_refused_is_not_done(wire: Wire, topic: str, fresh: Callable[[str], str], timeout_ms: int) -> None:
    new = fresh("topic")
    assert create(wire, timeout_ms, new) == [TIMED_OUT]
    add_partitions(wire, timeout_ms, topic)
    delete(wire, timeout_ms, topic)
    control.create_topic(wire, fresh("later"))  # whatever was on its way before is done now
    assert control.metadata(wire, new).error_code == 3
    assert len(control.metadata(wire, topic).partitions) == 1


@pytest.mark.parametrize("ask", [create, add_partitions, delete], ids=lambda ask: ask.__name__)
def test_name_that_comes_twice_is_refused_for_that(wire: Wire, topic: str, ask: Ask) -> None:
    assert set(ask(wire, 0, topic, topic)) == {DUPLICATE}
    assert set(ask(wire, 0, topic, topic, "another")) == {TIMED_OUT}, "the others had to wait"
