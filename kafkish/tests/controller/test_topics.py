"""DeleteTopics and CreatePartitions."""

from typing import Any

import pytest

from kafkish.controller.create_partitions import create_partitions
from kafkish.controller.delete_topics import delete_topics
from kafkish.controller.ports import AclOperation, AclResource
from kafkish.metadata.image import ResourceType
from kafkish.tests.controller.cluster import Cluster
from kafkish.tests.controller.test_create_topics import create, topic
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafkish_protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafkish_protocol.types import ZERO_UUID, Uuid

UNKNOWN = Uuid(b"u" * 16)


def a_cluster() -> Cluster:
    cluster = Cluster(1, 2)
    create(cluster, topic("a", retention_ms="1"), topic("b"), topic("c"))
    return cluster


def delete(cluster: Cluster, *topics: DeleteTopicState, **options: Any) -> list[tuple[str | None, Uuid, int]]:
    response = cluster.run(delete_topics, DeleteTopicsRequest(topics=list(topics)), 6, **options)
    return [(row.name, row.topic_id, row.error_code) for row in response.responses]


class TestDeleteTopics:
    def test_by_name_and_by_id(self) -> None:
        cluster = a_cluster()
        a, b = (cluster.image.topics.by_name[name].id for name in "ab")
        rows = delete(cluster, DeleteTopicState(name="a"), DeleteTopicState(topic_id=b))
        assert rows == [("a", a, 0), ("b", b, 0)]
        assert list(cluster.image.topics.by_name) == ["c"]
        assert not cluster.image.config(ResourceType.TOPIC, "a")

    def test_before_version_6_by_name_alone(self) -> None:
        cluster = a_cluster()
        response = cluster.run(delete_topics, DeleteTopicsRequest(topic_names=["a", "x"]), 5)
        assert [(row.name, row.error_code) for row in response.responses] == [("a", 0), ("x", 3)]
        assert list(cluster.image.topics.by_name) == ["b", "c"]

    def test_what_is_there_twice_is_not_deleted(self) -> None:
        cluster = a_cluster()
        a, b, c = (cluster.image.topics.by_name[name].id for name in "abc")
        asked = [DeleteTopicState(name="a")] * 2 + [DeleteTopicState(topic_id=b)] * 2
        asked += [DeleteTopicState(name="c"), DeleteTopicState(topic_id=c)]
        rows = delete(cluster, *asked)
        assert rows == [("a", ZERO_UUID, 42), (None, b, 42), ("c", c, 42)]
        assert a in cluster.image.topics.by_id
        assert len(cluster.image.topics.by_id) == 3

    @pytest.mark.parametrize(
        ("asked", "code"),
        [
            (DeleteTopicState(), ErrorCode.INVALID_REQUEST),
            (DeleteTopicState(name="a", topic_id=UNKNOWN), ErrorCode.INVALID_REQUEST),
            (DeleteTopicState(name="x"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            (DeleteTopicState(topic_id=UNKNOWN), ErrorCode.UNKNOWN_TOPIC_ID),
        ],
    )
    def test_what_cannot_be_is_refused(self, asked: DeleteTopicState, code: ErrorCode) -> None:
        assert delete(a_cluster(), asked) == [(asked.name, asked.topic_id, code)]

    def test_deletion_can_be_switched_off(self) -> None:
        cluster = a_cluster()
        cluster.settings = type(cluster.settings)(
            cluster.settings.cluster_id, 1, frozenset({1}), cluster.settings.supported_features, delete_topics=False
        )
        assert delete(cluster, DeleteTopicState(name="a"))[0][2] == ErrorCode.TOPIC_DELETION_DISABLED
        old = cluster.run(delete_topics, DeleteTopicsRequest(topic_names=["a"]), 2)
        assert old.responses[0].error_code == ErrorCode.INVALID_REQUEST

    def test_who_may_not_see_a_topic_learns_nothing_of_it(self) -> None:
        cluster = a_cluster()
        b = cluster.image.topics.by_name["b"].id

        def may_see_a(operation: AclOperation, resource: AclResource, name: str) -> bool:
            return operation == AclOperation.DESCRIBE and name == "a"

        asked = [DeleteTopicState(name=name) for name in ("a", "b", "x")] + [DeleteTopicState(topic_id=b)]
        denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        rows = delete(cluster, *asked, authorize=may_see_a)
        assert rows == [(name, ZERO_UUID, denied) for name in ("a", "b", "x")] + [(None, b, denied)]


def grow(
    cluster: Cluster, name: str, count: int, named: list[list[int]] | None = None, **options: Any
) -> tuple[int, str]:
    assignments = None if named is None else [CreatePartitionsAssignment(broker_ids=ids) for ids in named]
    wanted = CreatePartitionsTopic(name=name, count=count, assignments=assignments)
    response = cluster.run(create_partitions, CreatePartitionsRequest(topics=[wanted], **options))
    return response.results[0].error_code, response.results[0].error_message or ""


class TestCreatePartitions:
    def test_new_partitions_come_after_the_old_and_have_as_many_replicas(self) -> None:
        cluster = Cluster(1, 2, 3)
        create(cluster, topic("t", 2, 2))
        old = cluster.image.topics.by_name["t"].partitions
        assert grow(cluster, "t", 5) == (0, "")
        new = cluster.image.topics.by_name["t"].partitions
        assert [len(partition.replicas) for partition in new.values()] == [2] * 5
        assert (new[0], new[1]) == (old[0], old[1])

    def test_replicas_can_be_named(self) -> None:
        cluster = a_cluster()
        assert grow(cluster, "a", 3, [[2], [1]]) == (0, "")
        assert [cluster.partition("a", index).replicas for index in (1, 2)] == [(2,), (1,)]

    def test_validation_writes_nothing(self) -> None:
        cluster = a_cluster()
        assert grow(cluster, "a", 3, validate_only=True) == (0, "")
        assert len(cluster.image.topics.by_name["a"].partitions) == 1

    @pytest.mark.parametrize(
        ("name", "count", "named", "code"),
        [
            ("x", 2, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            ("a", 1, None, ErrorCode.INVALID_PARTITIONS),
            ("a", 0, None, ErrorCode.INVALID_PARTITIONS),
            ("a", -1, None, ErrorCode.INVALID_PARTITIONS),
            ("a", 2_000_000_000, None, ErrorCode.POLICY_VIOLATION),
            ("a", 2, [], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
            ("a", 2, [[1], [1]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
            ("a", 2, [[1, 2]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
            ("a", 2, [[9]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ],
    )
    def test_what_cannot_be_is_refused(
        self, name: str, count: int, named: list[list[int]] | None, code: ErrorCode
    ) -> None:
        cluster = a_cluster()
        before = cluster.image
        assert grow(cluster, name, count, named)[0] == code
        assert cluster.image is before

    def test_a_topic_that_is_there_twice_gets_nothing(self) -> None:
        cluster = a_cluster()
        wanted = CreatePartitionsTopic(name="a", count=2, assignments=None)
        response = cluster.run(create_partitions, CreatePartitionsRequest(topics=[wanted, wanted]))
        assert [(row.name, row.error_code) for row in response.results] == [("a", ErrorCode.INVALID_REQUEST)]
        assert len(cluster.image.topics.by_name["a"].partitions) == 1

    def test_replicas_that_are_all_fenced_are_refused(self) -> None:
        cluster = a_cluster()
        cluster.heartbeat(2, want_fence=True)
        code, message = grow(cluster, "a", 2, [[2]])
        assert code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
        assert message.startswith("All brokers specified in the manual partition assignment for partition 1 are fenced")
