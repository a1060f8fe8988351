"""FindCoordinator: groups find their coordinator, whatever the version."""

import pytest

from kafkish.tests.handlers.node import NodeUnderTest
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest

OFFSETS = "__consumer_offsets"


def find(node: NodeUnderTest, version: int, key: str = "group", key_type: int = 0) -> Coordinator:
    """The answer in the form of the newest versions."""
    if version >= 4:
        (row,) = node.ask(FindCoordinatorRequest(coordinator_keys=[key], key_type=key_type), version).coordinators
        found: Coordinator = row
        return found
    old = node.ask(FindCoordinatorRequest(key=key, key_type=key_type), version)
    return Coordinator(
        node_id=old.node_id,
        host=old.host,
        port=old.port,
        error_code=old.error_code,
        error_message=old.error_message,
    )


@pytest.mark.parametrize("version", range(7))
def test_the_first_group_has_the_offsets_topic_created_and_finds_its_coordinator_then(version: int) -> None:
    node = NodeUnderTest()
    first = find(node, version)
    assert (first.error_code, first.node_id, first.port) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1, -1)
    assert len(node.cluster.image.topics.by_name[OFFSETS].partitions) == 50
    second = find(node, version)
    assert (second.error_code, second.node_id, second.host, second.port) == (0, 1, "192.0.2.7", 19092)


def test_the_leader_of_a_groups_partition_is_its_coordinator() -> None:
    node = NodeUnderTest(1, 2)
    topic = node.create(OFFSETS, partitions=50)
    groups = ["x" * length for length in range(1, 9)]
    response = node.ask(FindCoordinatorRequest(coordinator_keys=groups))
    assert [row.key for row in response.coordinators] == groups
    leaders = [topic.partitions[node.groups.partition_of(group)].leader for group in groups]
    assert [row.node_id for row in response.coordinators] == leaders
    assert set(leaders) == {1, 2}


def test_a_group_whose_partition_has_no_leader_waits() -> None:
    node = NodeUnderTest(1, 2)
    node.create(OFFSETS, partitions=50)
    node.cluster.heartbeat(2, want_fence=True)
    groups = ["x" * length for length in range(1, 9)]
    rows = node.ask(FindCoordinatorRequest(coordinator_keys=groups)).coordinators
    assert {(row.node_id, row.error_code) for row in rows} == {(1, 0), (-1, ErrorCode.COORDINATOR_NOT_AVAILABLE)}


@pytest.mark.parametrize("version", range(1, 7))
@pytest.mark.parametrize("key_type", [1, 2, 3, -1])
def test_coordinators_that_are_not_served_are_refused_for_good(version: int, key_type: int) -> None:
    node = NodeUnderTest()
    refused = find(node, version, key_type=key_type)
    assert (refused.error_code, refused.node_id) == (ErrorCode.INVALID_REQUEST, -1)
    assert refused.error_message
    assert node.controller.submitted == []
