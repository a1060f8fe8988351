"""CreateTopics: what can be created, and what a client is told otherwise."""

from typing import Any

import pytest

from kafkish.controller.create_topics import create_topics
from kafkish.controller.operation import ApiError
from kafkish.controller.ports import AclOperation
from kafkish.metadata.image import ResourceType
from kafkish.tests.controller.cluster import Cluster
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafkish_protocol.types import ZERO_UUID


def topic(
    name: str = "t", partitions: int = 1, replicas: int = 1, assigned: list[list[int]] | None = None, **configs: str
) -> CreatableTopic:
    named = [CreatableReplicaAssignment(partition_index=i, broker_ids=ids) for i, ids in enumerate(assigned or [])]
    return CreatableTopic(
        name=name,
        num_partitions=-1 if named else partitions,
        replication_factor=-1 if named else replicas,
        assignments=named,
        configs=[CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()],
    )


def create(cluster: Cluster, *topics: CreatableTopic, version: int = 7, **options: Any) -> CreateTopicsResponse:
    validate_only = options.pop("validate_only", False)
    return cluster.run(
        create_topics, CreateTopicsRequest(topics=list(topics), validate_only=validate_only), version, **options
    )


def refusal(cluster: Cluster, *topics: CreatableTopic, **options: Any) -> tuple[ErrorCode, str | None]:
    """The error of the first topic; nothing was created."""
    before = cluster.image
    row = create(cluster, *topics, **options).topics[0]
    assert cluster.image is before
    assert row.topic_id == ZERO_UUID
    return ErrorCode(row.error_code), row.error_message


def test_a_new_topic_has_its_partitions_led_and_in_sync() -> None:
    cluster = Cluster(1, 2, 3)
    (row,) = create(cluster, topic(partitions=6, replicas=3)).topics
    created = cluster.image.topics.by_name["t"]
    assert (row.error_code, row.error_message, row.num_partitions, row.replication_factor) == (0, None, 6, 3)
    assert row.topic_id == created.id
    assert sorted(p.leader for p in created.partitions.values()) == [1, 1, 2, 2, 3, 3]
    assert all(p.isr == p.replicas and p.leader_epoch == 0 for p in created.partitions.values())
    assert all(len(set(p.directories)) == 3 for p in created.partitions.values())


def test_counts_of_minus_one_are_the_defaults() -> None:
    (row,) = create(Cluster(1), topic(partitions=-1, replicas=-1)).topics
    assert (row.num_partitions, row.replication_factor) == (1, 1)


def test_configs_are_stored_and_shown() -> None:
    cluster = Cluster(1)
    (row,) = create(cluster, topic(retention_ms="1")).topics
    assert cluster.image.config(ResourceType.TOPIC, "t") == {"retention.ms": "1"}
    shown = {c.name: (c.value, c.config_source) for c in row.configs or []}
    assert shown["retention.ms"] == ("1", 1)
    assert shown["segment.bytes"] == ("1073741824", 5)
    assert list(shown) == sorted(shown)


def test_validation_answers_the_same_and_writes_nothing() -> None:
    cluster = Cluster(1)
    (row,) = create(cluster, topic(partitions=3), validate_only=True).topics
    assert (row.error_code, row.num_partitions) == (0, 3)
    assert not cluster.image.topics.by_name


def test_before_version_5_no_configs_are_told() -> None:
    (row,) = create(Cluster(1), topic(), version=4).topics
    assert (row.error_code, row.num_partitions, row.configs) == (0, -1, [])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "the empty string is not allowed"),
        (".", "'.' is not allowed"),
        ("..", "'..' is not allowed"),
        ("a" * 250, "longer than the max allowed length 249"),
        ("a/b", "contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"),
        ("../x", "contains one or more"),
        ("a\0b", "contains one or more"),
        ("ä", "contains one or more"),
        ("a\n", "contains one or more"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name: str, message: str) -> None:
    code, said = refusal(Cluster(1), topic(name))
    assert code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert message in (said or "")


def test_a_topic_exists_once() -> None:
    cluster = Cluster(1)
    create(cluster, topic("a.b"))
    assert refusal(cluster, topic("a.b")) == (ErrorCode.TOPIC_ALREADY_EXISTS, "Topic 'a.b' already exists.")


def test_names_that_metrics_cannot_tell_apart_are_refused() -> None:
    cluster = Cluster(1)
    create(cluster, topic("a.b"))
    message = "Topic 'a_b' collides with existing topic: a.b"
    assert refusal(cluster, topic("a_b")) == (ErrorCode.INVALID_TOPIC_EXCEPTION, message)


def test_of_a_name_that_is_there_twice_none_is_created() -> None:
    cluster = Cluster(1)
    response = create(cluster, topic("a"), topic("b"), topic("a"))
    assert [(t.name, t.error_code) for t in response.topics] == [("a", ErrorCode.INVALID_REQUEST), ("b", 0)]
    assert list(cluster.image.topics.by_name) == ["b"]


def test_the_metadata_log_is_no_topic_to_create() -> None:
    assert refusal(Cluster(1), topic("__cluster_metadata"))[0] == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (topic(partitions=0), ErrorCode.INVALID_PARTITIONS),
        (topic(partitions=-2), ErrorCode.INVALID_PARTITIONS),
        (topic(replicas=0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic(replicas=-2), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic(replicas=4), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic(assigned=[[]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic(assigned=[[1, 1]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic(assigned=[[1, 9]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic(assigned=[[1, 2], [1]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic(assigned=[[4]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic(retention_ms="soon"), ErrorCode.INVALID_CONFIG),
        (topic(no_such="1"), ErrorCode.INVALID_CONFIG),
    ],
)
def test_what_cannot_be_is_refused(wanted: CreatableTopic, code: ErrorCode) -> None:
    cluster = Cluster(1, 2, 3)
    cluster.register(4)  # fenced: it has no heartbeat yet
    wanted.replication_factor = 5 if wanted.replication_factor == 4 else wanted.replication_factor
    assert refusal(cluster, wanted)[0] == code


def test_named_partitions_have_no_gaps_no_repetition_and_no_counts() -> None:
    cluster = Cluster(1)
    gap, repeated, counted, factored = (topic(assigned=[[1], [1]]) for _ in range(4))
    gap.assignments[1].partition_index = 2
    repeated.assignments[1].partition_index = 0
    counted.num_partitions = 2
    factored.replication_factor = 1
    assert refusal(cluster, gap)[1] == "partitions should be a consecutive 0-based integer sequence"
    assert refusal(cluster, repeated)[1] == "Found multiple manual partition assignments for partition 0"
    assert refusal(cluster, counted)[0] == refusal(cluster, factored)[0] == ErrorCode.INVALID_REQUEST


def test_a_config_without_a_value_is_refused() -> None:
    wanted = topic()
    wanted.configs = [CreatableTopicConfig(name="retention.ms", value=None)]
    message = "Null value not supported for topic configs: retention.ms"
    assert refusal(Cluster(1), wanted) == (ErrorCode.INVALID_CONFIG, message)


def test_named_replicas_are_taken_as_they_are_and_the_active_ones_are_in_sync() -> None:
    cluster = Cluster(1, 2)
    cluster.register(3)
    create(cluster, topic(assigned=[[3, 2, 1], [1, 3, 2]]))
    first, second = cluster.partition("t", 0), cluster.partition("t", 1)
    assert (first.replicas, first.isr, first.leader) == ((3, 2, 1), (2, 1), 2)
    assert (second.replicas, second.isr, second.leader) == ((1, 3, 2), (1, 2), 1)


def test_nothing_can_be_placed_where_no_broker_is_alive() -> None:
    code, message = refusal(Cluster(), topic())
    assert code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert message == (
        "Unable to replicate the partition 1 time(s): All brokers are currently fenced, or have all their log "
        "directories cordoned."
    )


def test_too_many_partitions_are_refused_before_they_are_made() -> None:
    cluster = Cluster(1)
    huge = CreateTopicsRequest(topics=[topic("a", 2_000_000_000), topic("b")])
    response = cluster.run(create_topics, huge)
    assert [t.error_code for t in response.topics] == [ErrorCode.POLICY_VIOLATION] * 2
    assert refusal(cluster, topic(partitions=10_000))[0] == ErrorCode.POLICY_VIOLATION  # with the topic's own record
    assert create(cluster, topic(partitions=100)).topics[0].error_code == 0


def test_who_may_not_create_is_told_so_and_who_may_not_see_configs_gets_none() -> None:
    cluster = Cluster(1)
    code, _ = refusal(cluster, topic(), authorize=lambda *_: False)
    assert code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    (row,) = create(cluster, topic(), authorize=lambda operation, *_: operation == AclOperation.CREATE).topics
    assert (row.error_code, row.topic_config_error_code) == (0, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    assert (row.num_partitions, row.configs) == (-1, [])


def test_a_quota_on_partitions_is_charged_and_can_refuse() -> None:
    charged = []

    def charge(partitions: int) -> None:
        charged.append(partitions)
        if sum(charged) > 3:
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)

    response = create(Cluster(1), topic("a", 3), topic("b", 1), charge_partitions=charge)
    assert [t.error_code for t in response.topics] == [0, ErrorCode.THROTTLING_QUOTA_EXCEEDED]
    assert charged == [3, 1]
