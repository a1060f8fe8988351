"""OffsetFetch and OffsetDelete: what was committed, and what is no more."""

import pytest

from kafkish.tests.coordinators.groups.group_model import GroupModel
from kafkish.tests.coordinators.groups.requests import commit, delete_offsets, fetch, join, subscription
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from kafkish_protocol.types import Uuid

TOPIC_ID, OTHER_ID = Uuid(bytes([1] * 16)), Uuid(bytes([2] * 16))


def asked_the_old_way(topics: dict[str, list[int]] | None) -> OffsetFetchRequest:
    if topics is None:
        return OffsetFetchRequest(group_id="g", topics=None)
    wanted = [OffsetFetchRequestTopic(name=name, partition_indexes=indexes) for name, indexes in topics.items()]
    return OffsetFetchRequest(group_id="g", topics=wanted)


@pytest.mark.parametrize("version", range(1, 8))
def test_one_group_until_version_7(version: int) -> None:
    model = GroupModel()
    model.ask(commit("g", {("t", 0): 7}, metadata="m", leader_epoch=4))
    response = model.ask(asked_the_old_way({"t": [0, 1], "u": [0]}), version)
    found = [(t.name, p.partition_index, p.committed_offset, p.metadata) for t in response.topics for p in t.partitions]
    assert found == [("t", 0, 7, "m"), ("t", 1, -1, ""), ("u", 0, -1, "")]
    assert response.topics[0].partitions[0].committed_leader_epoch == (4 if version >= 5 else -1)
    assert response.error_code == ErrorCode.NONE


@pytest.mark.parametrize("version", range(2, 8))
def test_null_topics_mean_all_that_the_group_has(version: int) -> None:
    model = GroupModel()
    model.ask(commit("g", {("t", 0): 7, ("t", 2): 8, ("u", 1): 9}))
    response = model.ask(asked_the_old_way(None), version)
    found = {(t.name, p.partition_index): p.committed_offset for t in response.topics for p in t.partitions}
    assert found == {("t", 0): 7, ("t", 2): 8, ("u", 1): 9}
    assert model.ask(asked_the_old_way({}), version).topics == []


@pytest.mark.parametrize("version", range(8, 10))
def test_several_groups_from_version_8_on(version: int) -> None:
    model = GroupModel()
    model.ask(commit("g", {("t", 0): 7}))
    model.ask(commit("h", {("t", 0): 8, ("u", 0): 9}))
    groups = [fetch("g", {"t": [0, 5]}).groups[0], fetch("h", None).groups[0], fetch("none", {"t": [0]}).groups[0]]
    groups.append(fetch("none", None).groups[0])
    response = model.ask(OffsetFetchRequest(groups=groups, require_stable=True), version)
    found = [
        (group.group_id, [(t.name, p.partition_index, p.committed_offset) for t in group.topics for p in t.partitions])
        for group in response.groups
    ]
    assert found == [
        ("g", [("t", 0, 7), ("t", 5, -1)]),
        ("h", [("t", 0, 8), ("u", 0, 9)]),
        ("none", [("t", 0, -1)]),
        ("none", []),
    ]


def test_topics_by_id_in_version_10() -> None:
    model = GroupModel()
    model.ask(commit("g", {("t", 0): 7}, topic_id=TOPIC_ID), 10)
    (topic,) = model.ask(fetch("g", {"t": [0]}, topic_id=TOPIC_ID), 10).groups[0].topics
    assert (topic.topic_id, topic.partitions[0].committed_offset) == (TOPIC_ID, 7)


def test_offset_of_a_topic_that_was_deleted_and_made_again_is_not_shown() -> None:
    model = GroupModel()
    model.ask(commit("g", {("t", 0): 7}, topic_id=TOPIC_ID), 10)
    (topic,) = model.ask(fetch("g", {"t": [0]}, topic_id=OTHER_ID), 10).groups[0].topics
    assert topic.partitions[0].committed_offset == -1


def test_answer_waits_until_what_it_shows_is_committed() -> None:
    model = GroupModel(commits_at_once=False)
    model.start(commit("g", {("t", 0): 7}))
    handle = model.start(fetch("g", {"t": [0]}))
    assert handle in model.waiting
    model.commit()
    assert model.answer(handle).groups[0].topics[0].partitions[0].committed_offset == 7


@pytest.mark.parametrize("version", range(1, 11))
def test_error_of_the_whole_stands_where_the_version_has_it(version: int) -> None:
    model = GroupModel(commits_at_once=False)
    model.start(commit("g", {("t", 0): 7}))
    request = fetch("g", {"t": [0]}) if version >= 8 else asked_the_old_way({"t": [0]})
    handle = model.start(request, version)
    model.time_out_writes()
    answer = model.answer(handle)
    if version >= 8:
        assert answer.groups[0].error_code == ErrorCode.NOT_COORDINATOR
    elif version >= 2:
        assert answer.error_code == ErrorCode.NOT_COORDINATOR
    else:
        assert answer.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR


# -- OffsetDelete


def test_offsets_of_topics_that_nobody_reads_can_be_deleted() -> None:
    model = GroupModel()
    model.stabilise(1, protocols={"range": subscription("t")})
    (member,) = model.group().members
    model.ask(commit("g", {("t", 0): 1, ("u", 0): 2, ("u", 1): 3}, member=member, generation=1))
    response = model.ask(delete_offsets("g", {"t": [0], "u": [0, 9]}))
    found = [(t.name, p.partition_index, p.error_code) for t in response.topics for p in t.partitions]
    assert found == [("t", 0, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC), ("u", 0, 0), ("u", 9, 0)]
    assert model.committed() == {("t", 0): 1, ("u", 1): 3}
    assert sum(record.value is None for record in model.written) == 1


@pytest.mark.parametrize(
    ("group", "error"), [("", ErrorCode.INVALID_GROUP_ID), ("none", ErrorCode.GROUP_ID_NOT_FOUND), ("g", 0)]
)
def test_offset_delete_needs_a_group(group: str, error: int) -> None:
    model = GroupModel()
    model.ask(commit("g", {("t", 0): 1}))
    assert model.ask(delete_offsets(group, {"t": [0]})).error_code == error


def test_members_whose_protocol_is_not_understood_keep_all_offsets() -> None:
    model = GroupModel()
    model.stabilise(1, protocol_type="connect", protocols={"v1": b"?"})
    assert model.error(delete_offsets("g", {"t": [0]})) == ErrorCode.NON_EMPTY_GROUP
    model.stabilise(1, group="h", protocols={"range": b"not a subscription"})
    answer = model.ask(delete_offsets("h", {"t": [0]}))
    assert answer.topics[0].partitions[0].error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC


def test_offset_deleted_right_after_its_commit_stays_deleted_though_neither_is_committed_yet() -> None:
    model = GroupModel(commits_at_once=False)
    model.start(commit("g", {("t", 0): 1}))
    model.start(delete_offsets("g", {"t": [0]}))
    model.commit()
    model.commits_at_once = True
    assert model.committed() == {}
    model.restart()
    assert model.committed() == {}


def test_offsets_of_a_deleted_topic_go_and_those_of_its_namesake_stay() -> None:
    model = GroupModel()
    model.ask(commit("g", {("t", 0): 1, ("t", 1): 1}, topic_id=TOPIC_ID))
    model.ask(commit("h", {("t", 0): 2}, topic_id=OTHER_ID))
    model.ask(commit("old", {("t", 0): 3}))
    model.perform(model.shard.on_topics_deleted([("t", TOPIC_ID)]))
    assert (model.committed("g"), model.committed("h"), model.committed("old")) == ({}, {("t", 0): 2}, {})
    assert model.error(join("g")) == ErrorCode.MEMBER_ID_REQUIRED
