"""Every item of a request is answered once: those that are there, those that are not, and those that come twice."""

from collections.abc import Callable
from typing import Any

import batches
import control
import pytest
import raw_group
from kafka.protocol.admin import (
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteGroupsRequest,
    DeleteRecordsRequest,
    DeleteTopicsRequest,
    DescribeGroupsRequest,
)
from kafka.protocol.consumer import (
    ListOffsetsRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    OffsetForLeaderEpochRequest,
)
from wire import Wire

Told = list[tuple[str, int, int]]  # topic, partition, error

DUPLICATE, UNKNOWN, NO_GROUP, INVALID_PARTITIONS = 42, 3, 69, 37


@pytest.fixture
def two(wire: Wire, make_topic: Callable[..., str]) -> str:
    """A topic with two partitions and a record in each."""
    topic = make_topic(2)
    for partition in (0, 1):
        control.produce(wire, topic, batches.values(b"value"), partition)
    return topic


# -- partitions


def asked(topic: str, entry: Any, make_part: Callable[[int], Any], name: str = "name") -> list[Any]:
    """Two partitions that are there, one that is not, and one of a topic that does not exist."""
    there, missing = [make_part(number) for number in (0, 1, 9)], [make_part(0)]
    return [entry(**{name: topic, "partitions": there}), entry(**{name: "missing", "partitions": missing})]


def told(topics: list[Any], index: str = "partition_index", name: str = "name") -> Told:
    return [
        (getattr(topic, name), getattr(part, index), part.error_code) for topic in topics for part in topic.partitions
    ]


def list_offsets(wire: Wire, topic: str, _: str) -> Told:
    entry = ListOffsetsRequest.ListOffsetsTopic
    topics = asked(topic, entry, lambda number: entry.ListOffsetsPartition(partition_index=number, timestamp=-1))
    return told(wire.send(ListOffsetsRequest(replica_id=-1, topics=topics, timeout_ms=20_000), 9).topics)


def epoch_ends(wire: Wire, topic: str, _: str) -> Told:
    entry = OffsetForLeaderEpochRequest.OffsetForLeaderTopic
    topics = asked(
        topic, entry, lambda number: entry.OffsetForLeaderPartition(partition=number, leader_epoch=0), "topic"
    )
    answer = wire.send(OffsetForLeaderEpochRequest(replica_id=-2, topics=topics), 4)
    return told(answer.topics, "partition", "topic")


def delete_records(wire: Wire, topic: str, _: str) -> Told:
    entry = DeleteRecordsRequest.DeleteRecordsTopic
    topics = asked(topic, entry, lambda number: entry.DeleteRecordsPartition(partition_index=number, offset=1))
    return told(wire.send(DeleteRecordsRequest(topics=topics, timeout_ms=20_000), 2).topics)


def commit(wire: Wire, topic: str, group: str) -> Told:
    entry = OffsetCommitRequest.OffsetCommitRequestTopic
    topics = asked(
        topic,
        entry,
        lambda number: entry.OffsetCommitRequestPartition(
            partition_index=number, committed_offset=1, committed_leader_epoch=-1, committed_metadata=""
        ),
    )
    request = OffsetCommitRequest(group_id=group, generation_id_or_member_epoch=-1, member_id="", topics=topics)
    return told(wire.send(request, 8).topics)


def delete_offsets(wire: Wire, topic: str, group: str) -> Told:
    entry = OffsetDeleteRequest.OffsetDeleteRequestTopic
    topics = asked(topic, entry, lambda number: entry.OffsetDeleteRequestPartition(partition_index=number))
    return told(wire.send(OffsetDeleteRequest(group_id=group, topics=topics), 0).topics)


@pytest.mark.parametrize("ask", [list_offsets, epoch_ends, delete_records, commit, delete_offsets])
def test_every_partition_is_answered_once(
    wire: Wire, two: str, group: str, ask: Callable[[Wire, str, str], Told]
) -> None:
    raw_group.commit(wire, group, two, 0, 1)
    assert sorted(ask(wire, two, group)) == sorted(
        [(two, 0, 0), (two, 1, 0), (two, 9, UNKNOWN), ("missing", 0, UNKNOWN)]
    )


def test_offsets_that_were_not_committed_are_answered_too(wire: Wire, two: str, group: str) -> None:
    raw_group.commit(wire, group, two, 0, 5)
    entry = OffsetFetchRequest.OffsetFetchRequestGroup
    row = entry.OffsetFetchRequestTopics
    topics = [row(name=two, partition_indexes=[1, 0, 9]), row(name="missing", partition_indexes=[0])]
    groups = [entry(group_id=each, member_id=None, member_epoch=-1, topics=topics) for each in (group, f"{group}-2")]
    answers = wire.send(OffsetFetchRequest(groups=groups, require_stable=False), 8).groups
    found = {
        (answer.group_id, topic.name, part.partition_index): part.committed_offset
        for answer in answers
        for topic in answer.topics
        for part in topic.partitions
    }
    places = [(two, 1), (two, 0), (two, 9), ("missing", 0)]
    expected = {(each.group_id, *place): -1 for each in groups for place in places}
    assert found == {**expected, (group, two, 0): 5}
    assert sum(len(topic.partitions) for answer in answers for topic in answer.topics) == len(found)


# -- topics


def test_every_topic_to_create_is_answered_once(wire: Wire, two: str, fresh: Callable[[str], str]) -> None:
    entry = CreateTopicsRequest.CreatableTopic
    new, twice = fresh("topic"), fresh("twice")
    topics = [
        entry(name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[])
        for name in (new, two, twice, twice)
    ]
    answer = wire.send(CreateTopicsRequest(topics=topics, timeout_ms=20_000, validate_only=True), 7)
    assert sorted((topic.name, topic.error_code) for topic in answer.topics) == sorted(
        [(new, 0), (two, 36), (twice, DUPLICATE)]
    )


def test_every_topic_to_delete_is_answered_once(wire: Wire, make_topic: Callable[..., str]) -> None:
    doomed, twice = make_topic(), make_topic()
    entry = DeleteTopicsRequest.DeleteTopicState
    topics = [entry(name=name, topic_id=control.NO_TOPIC_ID) for name in (doomed, "missing", twice, twice)]
    answer = wire.send(DeleteTopicsRequest(topics=topics, timeout_ms=20_000), 6)
    found = sorted((topic.name, topic.error_code) for topic in answer.responses)
    assert found == sorted([(doomed, 0), ("missing", UNKNOWN), (twice, DUPLICATE)])
    control.create_topic(wire, doomed)  # so that it can be removed again where the broker is not ours


def test_every_topic_to_grow_is_answered_once(wire: Wire, make_topic: Callable[..., str]) -> None:
    good, bad = make_topic(1), make_topic(3)
    entry = CreatePartitionsRequest.CreatePartitionsTopic
    topics = [entry(name=name, count=2, assignments=None) for name in (good, bad, "missing")]
    answer = wire.send(CreatePartitionsRequest(topics=topics, timeout_ms=20_000, validate_only=False), 3)
    found = sorted((result.name, result.error_code) for result in answer.results)
    assert found == sorted([(good, 0), (bad, INVALID_PARTITIONS), ("missing", UNKNOWN)])


# -- groups


def test_every_group_is_answered_once(wire: Wire, two: str, group: str) -> None:
    raw_group.commit(wire, group, two, 0, 1)
    missing = f"{group}-missing"
    control.wait_for_group(wire, missing)
    described = wire.send(DescribeGroupsRequest(groups=[group, missing], include_authorized_operations=False), 6)
    found = sorted((row.group_id, row.error_code, row.group_state) for row in described.groups)
    assert found == sorted([(group, 0, "Empty"), (missing, NO_GROUP, "Dead")])
    deleted = wire.send(DeleteGroupsRequest(groups_names=[missing, group]), 2)
    results = sorted((row.group_id, row.error_code) for row in deleted.results)
    assert results == sorted([(group, 0), (missing, NO_GROUP)])
