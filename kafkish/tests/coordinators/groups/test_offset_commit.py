"""OffsetCommit: who may store offsets, and what is kept of them."""

import pytest

from kafkish.tests.coordinators.groups.group_model import GroupModel
from kafkish.tests.coordinators.groups.requests import commit, fetch, join, leave
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.list_groups import ListGroupsRequest
from kafkish_protocol.messages.offset_commit import OffsetCommitRequest
from kafkish_protocol.stored.offset_commit import OffsetCommitValue
from kafkish_protocol.types import Uuid

VERSIONS = range(2, 11)
AT = {("t", 0): 7}
TOPIC_ID = Uuid(bytes(range(16)))


def error_of(model: GroupModel, request: OffsetCommitRequest, version: int = 9) -> ErrorCode:
    (topic,) = model.ask(request, version).topics
    (partition,) = topic.partitions
    return ErrorCode(partition.error_code)


@pytest.mark.parametrize("version", VERSIONS)
def test_anybody_may_commit_to_a_group_that_does_not_exist_and_so_makes_it(version: int) -> None:
    model = GroupModel()
    response = model.ask(commit("g", {("t", 0): 7, ("u", 1): 8}, topic_id=TOPIC_ID), version)
    assert [topic.topic_id if version >= 10 else topic.name for topic in response.topics] == (
        [TOPIC_ID, TOPIC_ID] if version >= 10 else ["t", "u"]
    )
    assert model.committed() == {("t", 0): 7, ("u", 1): 8}
    assert model.state_name() == "Empty"


@pytest.mark.parametrize("version", VERSIONS)
def test_member_of_the_current_generation_commits_with_metadata_and_leader_epoch(version: int) -> None:
    """Row 24: what was committed comes back whole."""
    model = GroupModel()
    (member,) = model.stabilise(1)
    request = commit("g", AT, member=member, generation=1, metadata="état", leader_epoch=5)
    assert error_of(model, request, version) == ErrorCode.NONE
    (found,) = model.ask(fetch("g", {"t": [0]})).groups[0].topics[0].partitions
    assert (found.committed_offset, found.metadata, found.committed_leader_epoch) == (7, "état", 5)


def test_null_metadata_is_kept_as_empty() -> None:
    model = GroupModel()
    model.ask(commit("g", AT, metadata=None))
    assert model.ask(fetch("g", {"t": [0]})).groups[0].topics[0].partitions[0].metadata == ""


def test_commits_of_the_wrong_member_or_generation_are_refused_and_nothing_is_stored() -> None:
    model = GroupModel()
    (member,) = model.stabilise(1)
    for request, error in [
        (commit("g", AT), ErrorCode.UNKNOWN_MEMBER_ID),
        (commit("g", AT, generation=1), ErrorCode.UNKNOWN_MEMBER_ID),
        (commit("g", AT, member="who", generation=1), ErrorCode.UNKNOWN_MEMBER_ID),
        (commit("g", AT, member=member, generation=0), ErrorCode.ILLEGAL_GENERATION),
        (commit("g", AT, member=member, generation=2), ErrorCode.ILLEGAL_GENERATION),
        (commit("g", AT, member=member), ErrorCode.ILLEGAL_GENERATION),
        (commit("g", AT, member=member, generation=1, instance="i"), ErrorCode.UNKNOWN_MEMBER_ID),
    ]:
        assert error_of(model, request) == error
    assert model.committed() == {}


@pytest.mark.parametrize(("version", "error"), [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)])
def test_member_of_a_group_that_does_not_exist_is_refused(version: int, error: ErrorCode) -> None:
    model = GroupModel()
    assert error_of(model, commit("none", AT, member="m", generation=3), version) == error
    assert model.log == []


def test_commits_are_taken_while_members_join_again_and_not_while_the_leader_assigns() -> None:
    model = GroupModel()
    leader, follower = model.stabilise(2)
    model.start_join(leader)
    assert error_of(model, commit("g", AT, member=follower, generation=1)) == ErrorCode.NONE
    model.start_join(follower)
    assert model.state_name() == "CompletingRebalance"
    assert error_of(model, commit("g", AT, member=follower, generation=2)) == ErrorCode.REBALANCE_IN_PROGRESS
    assert error_of(model, commit("g", AT, member=follower, generation=1)) == ErrorCode.ILLEGAL_GENERATION


def test_late_commit_of_a_member_that_is_out_is_refused_even_if_the_group_is_empty_now() -> None:
    model = GroupModel()
    (member,) = model.stabilise(1)
    model.ask(leave("g", member))
    assert error_of(model, commit("g", AT, member=member, generation=1)) == ErrorCode.UNKNOWN_MEMBER_ID
    assert error_of(model, commit("g", AT)) == ErrorCode.NONE


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ("x" * 4096, ErrorCode.NONE),
        ("x" * 4097, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        ("é" * 4096, ErrorCode.NONE),
        ("\N{GRINNING FACE}" * 2048, ErrorCode.NONE),
        ("\N{GRINNING FACE}" * 2049, ErrorCode.OFFSET_METADATA_TOO_LARGE),
    ],
    ids=["ascii", "ascii too long", "latin", "astral", "astral too long"],
)
def test_metadata_has_a_limit_in_javas_characters(metadata: str, error: ErrorCode) -> None:
    model = GroupModel()
    assert error_of(model, commit("g", AT, metadata=metadata)) == error
    assert bool(model.committed()) == (error == ErrorCode.NONE)


def test_one_partition_with_too_much_metadata_does_not_spoil_the_others() -> None:
    model = GroupModel()
    request = commit("g", {("t", 0): 7, ("t", 1): 8})
    request.topics[0].partitions[1].committed_metadata = "x" * 5000
    errors = [partition.error_code for partition in model.ask(request).topics[0].partitions]
    assert errors == [ErrorCode.NONE, ErrorCode.OFFSET_METADATA_TOO_LARGE]
    assert model.committed() == AT


def test_every_partition_is_answered_once_in_order_also_if_it_is_named_twice() -> None:
    model = GroupModel()
    request = commit("g", {("t", 1): 1, ("t", 0): 2})
    request.topics.append(request.topics[0])
    response = model.ask(request)
    indexes = [[partition.partition_index for partition in topic.partitions] for topic in response.topics]
    assert indexes == [[1, 0], [1, 0]]


def test_acknowledged_means_committed() -> None:
    model = GroupModel(commits_at_once=False)
    handle = model.start(commit("g", AT))
    assert handle in model.waiting
    model.commit()
    assert model.answer(handle).topics[0].partitions[0].error_code == ErrorCode.NONE


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_commit_that_the_log_refuses_is_refused_and_forgotten(failure: ErrorCode, told: ErrorCode) -> None:
    model = GroupModel()
    model.refuse_writes_with = failure
    assert error_of(model, commit("g", AT)) == told
    assert (model.committed(), model.shard.state.groups) == ({}, {})


def test_commit_that_takes_too_long_is_unknown_to_the_client_and_stays() -> None:
    model = GroupModel(commits_at_once=False)
    handle = model.start(commit("g", AT))
    model.time_out_writes()
    assert model.answer(handle).topics[0].partitions[0].error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    model.commits_at_once = True
    assert model.committed() == AT


def test_stored_value_has_topic_id_and_epoch_or_the_retention_that_old_clients_ask_for() -> None:
    model = GroupModel()
    model.ask(commit("g", AT, topic_id=TOPIC_ID, leader_epoch=3, metadata="m"), 9)
    model.ask(commit("g", AT, topic_id=TOPIC_ID, retention_ms=1_000, metadata="m"), 4)
    now_ms = model.now.wall_ms
    assert [(record.value, record.value_version) for record in model.written] == [
        (OffsetCommitValue(offset=7, leader_epoch=3, metadata="m", commit_timestamp=now_ms, topic_id=TOPIC_ID), 4),
        (OffsetCommitValue(offset=7, metadata="m", commit_timestamp=now_ms, expire_timestamp=now_ms + 1_000), 1),
    ]


def test_empty_group_id_is_a_group_for_offsets_alone() -> None:
    model = GroupModel()
    assert error_of(model, commit("", AT)) == ErrorCode.NONE
    assert model.committed("") == AT
    assert model.error(join("")) == ErrorCode.INVALID_GROUP_ID


def test_a_commit_of_nothing_makes_a_group_all_the_same() -> None:
    model = GroupModel()
    model.ask(commit("g", AT, metadata="m" * 4097))
    assert model.committed() == {}
    assert [group.group_id for group in model.ask(ListGroupsRequest()).groups] == ["g"]
    assert model.written == []


def test_group_made_by_a_commit_can_be_joined_and_then_belongs_to_its_members() -> None:
    model = GroupModel()
    model.ask(commit("g", AT))
    (member,) = model.stabilise(1)
    assert model.committed() == AT
    assert error_of(model, commit("g", AT)) == ErrorCode.UNKNOWN_MEMBER_ID
    assert error_of(model, commit("g", {("t", 0): 9}, member=member, generation=1)) == ErrorCode.NONE
