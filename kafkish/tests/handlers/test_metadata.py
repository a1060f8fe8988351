"""Metadata: what clients learn of brokers and topics, and how topics come to be by being asked for."""

import pytest

from kafkish.handlers import metadata
from kafkish.tests.handlers.node import NodeUnderTest
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.create_topics import CreateTopicsRequest
from kafkish_protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kafkish_protocol.types import Uuid

VERSIONS = range(14)


def asks_for(*names: str, **fields: bool) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names], **fields)


def errors(response: MetadataResponse) -> dict[str | None, ErrorCode]:
    return {topic.name: ErrorCode(topic.error_code) for topic in response.topics}


def addresses(response: MetadataResponse) -> list[tuple[int, str, int]]:
    return [(broker.node_id, broker.host, broker.port) for broker in response.brokers]


# -- brokers


@pytest.mark.parametrize("version", VERSIONS)
def test_a_client_is_told_the_address_that_it_dialled(version: int) -> None:
    response = NodeUnderTest().ask(asks_for(), version)
    assert addresses(response) == [(1, "192.0.2.7", 19092)]


def test_advertised_listeners_win_over_the_address_that_was_dialled() -> None:
    node = NodeUnderTest(settings=("advertised.listeners=PLAINTEXT://kafka.example:9092",))
    assert addresses(node.ask(asks_for())) == [(1, "127.0.0.1", 9001)]  # as the broker registered


def test_other_brokers_have_the_address_that_they_registered_and_fenced_ones_are_not_shown() -> None:
    node = NodeUnderTest(1, 2)
    node.cluster.register(3)
    assert addresses(node.ask(asks_for())) == [(1, "192.0.2.7", 19092), (2, "127.0.0.1", 9002)]


def test_a_broker_without_the_clients_listener_is_not_shown() -> None:
    node = NodeUnderTest(1, 2)
    assert addresses(node.ask(asks_for(), listener="INTERNAL")) == [(1, "192.0.2.7", 19092)]


# -- which topics


def test_null_asks_for_all_topics_and_so_does_an_empty_list_in_version_0() -> None:
    node = NodeUnderTest()
    node.create("a")
    node.create("b")
    for version in VERSIONS:
        everything = MetadataRequest(topics=None if version else [])
        assert sorted(errors(node.ask(everything, version))) == ["a", "b"]  # type: ignore[type-var]
        if version:
            assert node.ask(asks_for(), version).topics == []


def test_a_topic_is_shown_with_its_partitions_in_every_version() -> None:
    node = NodeUnderTest(1, 2)
    topic = node.create("t", partitions=3, replication_factor=2)
    for version in VERSIONS:
        (shown,) = node.ask(asks_for("t", "t"), version).topics
        assert [partition.partition_index for partition in shown.partitions] == [0, 1, 2]
        assert {partition.error_code for partition in shown.partitions} == {0}
        assert [tuple(partition.replica_nodes) for partition in shown.partitions] == [
            topic.partitions[index].replicas for index in range(3)
        ]
        assert (shown.topic_id == topic.id) is (version >= 10)


def test_topics_are_found_by_their_ids_from_version_12_on() -> None:
    node = NodeUnderTest()
    topic = node.create("t")
    unknown = Uuid(b"\x07" * 16)
    asked = [MetadataRequestTopic(name=None, topic_id=id) for id in (unknown, topic.id)]
    response = node.ask(MetadataRequest(topics=asked), 12)
    assert errors(response) == {None: ErrorCode.UNKNOWN_TOPIC_ID, "t": ErrorCode.NONE}
    assert [shown.topic_id for shown in response.topics] == [unknown, topic.id]


@pytest.mark.parametrize("version", [10, 11])
def test_ids_are_refused_in_the_versions_that_cannot_ask_by_them(version: int) -> None:
    node = NodeUnderTest()
    by_id = MetadataRequestTopic(name="t", topic_id=node.create("t").id)
    assert errors(node.ask(MetadataRequest(topics=[by_id]), version)) == {"t": ErrorCode.INVALID_REQUEST}
    nameless = MetadataRequestTopic(name=None)
    assert errors(node.ask(MetadataRequest(topics=[nameless]), version)) == {"": ErrorCode.INVALID_REQUEST}


def test_what_a_client_may_do_is_told_where_it_asks() -> None:
    node = NodeUnderTest()
    node.create("t")
    silent = node.ask(asks_for("t"), 8)
    assert silent.cluster_authorized_operations == silent.topics[0].topic_authorized_operations == -(2**31)
    told = node.ask(
        asks_for("t", include_cluster_authorized_operations=True, include_topic_authorized_operations=True), 8
    )
    assert (told.cluster_authorized_operations, told.topics[0].topic_authorized_operations) == (8096, 3576)


def test_internal_topics_are_told_apart() -> None:
    node = NodeUnderTest()
    node.create("__consumer_offsets")
    node.create("t")
    response = node.ask(MetadataRequest(topics=None))
    assert {topic.name: topic.is_internal for topic in response.topics} == {"__consumer_offsets": True, "t": False}


# -- partitions that cannot be used


def test_a_partition_without_a_leader_says_so_and_its_replica_is_offline() -> None:
    node = NodeUnderTest(1, 2)
    topic = node.create("t", partitions=2)
    alone = next(index for index, partition in topic.partitions.items() if partition.replicas == (2,))
    node.cluster.heartbeat(2, want_fence=True)
    shown = node.ask(asks_for("t")).topics[0].partitions[alone]
    assert (shown.error_code, shown.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)
    assert (shown.replica_nodes, shown.offline_replicas) == ([2], [2])


def test_version_0_leaves_out_replicas_that_cannot_be_reached() -> None:
    node = NodeUnderTest(1, 2)
    node.create("t", replication_factor=2)
    node.cluster.heartbeat(2, want_fence=True)
    old, new = (node.ask(asks_for("t"), version).topics[0].partitions[0] for version in (0, 1))
    assert (old.error_code, old.replica_nodes) == (ErrorCode.REPLICA_NOT_AVAILABLE, [1])
    assert (new.error_code, sorted(new.replica_nodes)) == (ErrorCode.NONE, [1, 2])


def test_a_leader_on_another_listener_is_not_found_from_version_6_on() -> None:
    node = NodeUnderTest(1, 2)
    topic = node.create("t", partitions=2)
    index = next(index for index, partition in topic.partitions.items() if partition.leader == 2)
    told = {
        version: node.ask(asks_for("t"), version, listener="INTERNAL").topics[0].partitions[index].error_code
        for version in (5, 6)
    }
    assert told == {5: ErrorCode.LEADER_NOT_AVAILABLE, 6: ErrorCode.LISTENER_NOT_FOUND}


# -- topics that come to be


def test_a_topic_that_is_asked_for_is_unknown_first_and_there_soon_after() -> None:
    node = NodeUnderTest(settings=("num.partitions=3",))
    assert errors(node.ask(asks_for("new"))) == {"new": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    (topic,) = node.ask(asks_for("new")).topics
    assert (topic.error_code, len(topic.partitions)) == (ErrorCode.NONE, 3)


def test_a_topic_that_is_being_created_is_not_ordered_again() -> None:
    node = NodeUnderTest()
    node.controller.hold = True
    for _ in range(3):
        assert errors(node.ask(asks_for("new"))) == {"new": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert len(node.controller.submitted) == 1
    node.controller.release()
    assert errors(node.ask(asks_for("new"))) == {"new": ErrorCode.NONE}


def test_a_lost_controller_does_not_keep_a_topic_from_being_ordered_again() -> None:
    node = NodeUnderTest()
    node.controller.is_lost = True
    node.ask(asks_for("new"))
    node.controller.is_lost = False
    node.ask(asks_for("new"))
    assert errors(node.ask(asks_for("new"))) == {"new": ErrorCode.NONE}


@pytest.mark.parametrize("settings", [(), ("auto.create.topics.enable=false",)])
def test_nothing_is_created_against_the_will_of_client_or_operator(settings: tuple[str, ...]) -> None:
    node = NodeUnderTest(settings=settings)
    asked = asks_for("new", "bad name", allow_auto_topic_creation=bool(settings))
    expected = {"new": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "bad name": ErrorCode.INVALID_TOPIC_EXCEPTION}
    assert errors(node.ask(asked)) == expected
    assert node.controller.submitted == []


def test_a_name_that_cannot_be_is_refused_and_the_others_are_created() -> None:
    node = NodeUnderTest()
    assert errors(node.ask(asks_for("good", "bad name", "..", "x" * 250))) == {
        "good": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "bad name": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "..": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "x" * 250: ErrorCode.INVALID_TOPIC_EXCEPTION,
    }
    assert list(node.cluster.image.topics.by_name) == ["good"]


def test_internal_topics_are_created_with_their_own_settings() -> None:
    node = NodeUnderTest(settings=("offsets.topic.num.partitions=7", "transaction.state.log.segment.bytes=2000000"))
    node.controller.hold = True
    node.ask(asks_for("__consumer_offsets", "__transaction_state", "__share_group_state"))
    ((request, _),) = node.controller.submitted
    assert isinstance(request, CreateTopicsRequest)
    groups, transactions, shares = request.topics
    configs = [{config.name: config.value for config in topic.configs} for topic in request.topics]
    assert (groups.num_partitions, groups.replication_factor) == (7, 1)
    assert configs[0] == {"cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": "104857600"}
    assert (transactions.num_partitions, configs[1]["segment.bytes"]) == (50, "2000000")
    assert (shares.num_partitions, configs[2]["cleanup.policy"]) == (50, "delete")


def test_long_answer_is_made_in_turns_of_one_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "_AT_ONCE", 10)
    node = NodeUnderTest(1)
    for number in range(6):
        node.create(f"topic-{number}", partitions=4)
    node.timers.between_turns = lambda: node.create(f"later-{node.timers.turns}")
    answer = node.ask(MetadataRequest(topics=None))
    assert node.timers.turns == 2
    assert [topic.name for topic in answer.topics] == [f"topic-{number}" for number in range(6)]
    assert all(len(topic.partitions) == 4 for topic in answer.topics)
