"""Groups over the wire: what handlers add to what the coordinator decides."""

import pytest

from kafkish.tests.coordinators.groups import requests
from kafkish.tests.coordinators.groups.group_model import INITIAL_DELAY_MS
from kafkish.tests.handlers.node import NodeUnderTest
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.describe_groups import DescribeGroupsRequest
from kafkish_protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from kafkish_protocol.messages.list_groups import ListGroupsRequest
from kafkish_protocol.messages.offset_commit import OffsetCommitResponse
from kafkish_protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kafkish_protocol.types import Uuid

UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
NO_SUCH_ID = Uuid(b"\x07" * 16)


@pytest.fixture
def node() -> NodeUnderTest:
    made = NodeUnderTest()
    made.create("t", partitions=2)
    return made


def errors(response: OffsetCommitResponse) -> dict[tuple[str, int], int]:
    found = [
        (topic.name, each.partition_index, each.error_code) for topic in response.topics for each in topic.partitions
    ]
    assert len(found) == len({(name, index) for name, index, _ in found})
    return {(name, index): code for name, index, code in found}


def committed(node: NodeUnderTest, group: str = "g") -> dict[tuple[str, int], int]:
    """What the group has committed, whatever there is of topics."""
    (row,) = node.ask(requests.fetch(group, None), 9).groups
    return {
        (topic.name, each.partition_index): each.committed_offset for topic in row.topics for each in topic.partitions
    }


# -- members


def test_a_member_joins_syncs_heartbeats_and_leaves(node: NodeUnderTest) -> None:
    joining = node.start(requests.join("g"), 3)
    assert not joining.is_done
    node.groups.advance(INITIAL_DELAY_MS)
    joined = joining.result()
    assert (joined.error_code, joined.leader) == (0, joined.member_id)
    member, generation = joined.member_id, joined.generation_id
    synced = node.ask(requests.sync("g", member, generation, {member: b"all"}), 2)
    assert (synced.error_code, synced.assignment) == (0, b"all")
    assert node.ask(requests.heartbeat("g", member, generation)).error_code == 0
    (listed,) = node.ask(ListGroupsRequest()).groups
    assert (listed.group_id, listed.group_state, listed.group_type) == ("g", "Stable", "classic")
    (described,) = node.ask(DescribeGroupsRequest(groups=["g"])).groups
    assert [(each.client_id, each.client_host) for each in described.members] == [("client", "/203.0.113.9")]
    left = node.ask(LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id=member)]))
    assert [(row.member_id, row.error_code) for row in left.members] == [(member, 0)]
    assert node.ask(requests.delete("g")).results[0].error_code == 0


def test_a_client_without_an_id_has_an_empty_one(node: NodeUnderTest) -> None:
    joining = node.start(requests.join("g"), 3, client_id=None)
    node.groups.advance(INITIAL_DELAY_MS)
    assert joining.result().error_code == 0
    (described,) = node.ask(DescribeGroupsRequest(groups=["g"])).groups
    assert [each.client_id for each in described.members] == [""]


def test_what_a_client_may_do_to_a_group_is_told_where_it_asks_and_the_group_is_there(node: NodeUnderTest) -> None:
    node.ask(requests.commit("g", {("t", 0): 1}), 9)
    asked = DescribeGroupsRequest(groups=["g", "nowhere"], include_authorized_operations=True)
    told = [group.authorized_operations for group in node.ask(asked, 6).groups]
    assert told == [3400, -(2**31)]
    (silent,) = node.ask(DescribeGroupsRequest(groups=["g"]), 6).groups
    assert silent.authorized_operations == -(2**31)


# -- OffsetCommit


@pytest.mark.parametrize("version", range(2, 10))
def test_offsets_of_what_does_not_exist_are_not_stored_and_the_others_are(node: NodeUnderTest, version: int) -> None:
    offsets = {("t", 0): 5, ("t", 9): 6, ("nowhere", 0): 7, ("t", 1): 8}
    response = node.ask(requests.commit("g", offsets), version)
    assert errors(response) == {("t", 0): 0, ("t", 1): 0, ("t", 9): UNKNOWN, ("nowhere", 0): UNKNOWN}
    assert committed(node) == {("t", 0): 5, ("t", 1): 8}


def test_a_commit_of_nothing_that_exists_makes_no_group(node: NodeUnderTest) -> None:
    assert errors(node.ask(requests.commit("g", {("nowhere", 0): 7}), 9)) == {("nowhere", 0): UNKNOWN}
    assert node.ask(requests.commit("g", {}), 9).topics == []
    assert node.ask(ListGroupsRequest()).groups == []


def test_topics_are_committed_by_id_from_version_10_on(node: NodeUnderTest) -> None:
    topic_id = node.cluster.image.topics.by_name["t"].id
    known = requests.commit("g", {("", 0): 5, ("", 9): 6}, topic_id=topic_id)
    unknown = requests.commit("g", {("", 0): 5}, topic_id=NO_SUCH_ID)
    known.topics += unknown.topics
    response = node.ask(known, 10)
    told = {
        (topic.topic_id, each.partition_index): each.error_code
        for topic in response.topics
        for each in topic.partitions
    }
    assert told == {(topic_id, 0): 0, (topic_id, 9): UNKNOWN, (NO_SUCH_ID, 0): ErrorCode.UNKNOWN_TOPIC_ID}
    assert committed(node) == {("t", 0): 5}


def test_a_refused_commit_is_refused_on_every_partition_that_exists(node: NodeUnderTest) -> None:
    request = requests.commit("g", {("t", 0): 5, ("nowhere", 0): 6}, member="m", generation=3)
    assert errors(node.ask(request, 8)) == {("t", 0): ErrorCode.ILLEGAL_GENERATION, ("nowhere", 0): UNKNOWN}


# -- OffsetFetch


@pytest.mark.parametrize("version", range(1, 10))
def test_offsets_are_fetched_by_name(node: NodeUnderTest, version: int) -> None:
    node.ask(requests.commit("g", {("t", 0): 5}), 9)
    if version >= 8:
        (group,) = node.ask(requests.fetch("g", {"t": [0, 1], "nowhere": [0]}), version).groups
        topics = group.topics
    else:
        asked = [OffsetFetchRequestTopic(name=name, partition_indexes=[0, 1]) for name in ("t", "nowhere")]
        topics = node.ask(OffsetFetchRequest(group_id="g", topics=asked), version).topics
    told = {(topic.name, each.partition_index): each.committed_offset for topic in topics for each in topic.partitions}
    assert (told["t", 0], told["t", 1], told["nowhere", 0]) == (5, -1, -1)


def test_offsets_are_fetched_by_id_from_version_10_on(node: NodeUnderTest) -> None:
    topic_id = node.cluster.image.topics.by_name["t"].id
    node.ask(requests.commit("g", {("t", 0): 5}), 9)
    asked = [OffsetFetchRequestTopics(topic_id=id, partition_indexes=[0, 1]) for id in (NO_SUCH_ID, topic_id)]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=asked)])
    (group,) = node.ask(request, 10).groups
    told = {
        (topic.topic_id, each.partition_index): (each.committed_offset, each.error_code)
        for topic in group.topics
        for each in topic.partitions
    }
    unknown = (-1, ErrorCode.UNKNOWN_TOPIC_ID)
    assert told == {
        (topic_id, 0): (5, 0),
        (topic_id, 1): (-1, 0),
        (NO_SUCH_ID, 0): unknown,
        (NO_SUCH_ID, 1): unknown,
    }


def test_all_offsets_come_with_ids_and_without_topics_that_are_gone(node: NodeUnderTest) -> None:
    topic_id = node.cluster.image.topics.by_name["t"].id
    node.ask(requests.commit("g", {("t", 0): 5}), 9)
    node.groups.model.ask(requests.commit("g", {("gone", 0): 6}), 9)
    (group,) = node.ask(requests.fetch("g", None), 10).groups
    assert [topic.topic_id for topic in group.topics] == [topic_id]
    assert committed(node) == {("t", 0): 5, ("gone", 0): 6}


# -- OffsetDelete


def test_offsets_are_deleted_where_there_is_a_partition(node: NodeUnderTest) -> None:
    node.ask(requests.commit("g", {("t", 0): 5, ("t", 1): 6}), 9)
    response = node.ask(requests.delete_offsets("g", {"t": [0, 9], "nowhere": [0]}))
    assert response.error_code == 0
    assert errors(response) == {("t", 0): 0, ("t", 9): UNKNOWN, ("nowhere", 0): UNKNOWN}
    assert committed(node) == {("t", 1): 6}


def test_a_group_that_does_not_exist_has_no_offsets_to_delete(node: NodeUnderTest) -> None:
    response = node.ask(requests.delete_offsets("nowhere", {"t": [0], "x": [0]}))
    assert (response.error_code, response.topics) == (ErrorCode.GROUP_ID_NOT_FOUND, [])
