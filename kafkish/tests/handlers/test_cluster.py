"""The cluster as clients see it: its nodes, its features, its topics page by page."""

from typing import Any

import pytest

from kafkish.handlers.registry import REGISTRY
from kafkish.metadata.versions import KRAFT_VERSION
from kafkish.tests.handlers.node import NodeUnderTest
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.api_versions import ApiVersionsRequest
from kafkish_protocol.messages.describe_cluster import DescribeClusterRequest
from kafkish_protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)

NAMED = ApiVersionsRequest(client_software_name="test", client_software_version="1.0")


# -- ApiVersions


@pytest.mark.parametrize("version", range(5))
def test_what_is_registered_is_advertised(version: int) -> None:
    response = NodeUnderTest().ask(NAMED if version >= 3 else ApiVersionsRequest(), version)
    advertised = {api.api_key: (api.min_version, api.max_version) for api in response.api_keys}
    served = {key: (api.versions.low, api.versions.high) for key, api in REGISTRY.items()}
    assert advertised == served | {ApiKey.PRODUCE: (0, 13)}  # the one lie of Kafka's that librdkafka needs


def test_features_are_those_that_the_broker_registered_with() -> None:
    node = NodeUnderTest()
    response = node.ask(NAMED, 4)
    supported = {each.name: (each.min_version, each.max_version) for each in response.supported_features}
    assert supported == dict(node.cluster.image.brokers[1].features)
    finalized = {each.name: each.max_version_level for each in response.finalized_features}
    assert finalized == {name: node.cluster.image.features.level(name) for name in supported} | {KRAFT_VERSION: 1}
    assert response.finalized_features_epoch == node.cluster.image.provenance.offset


def test_clients_before_version_4_hear_of_no_feature_that_may_be_off() -> None:
    response = NodeUnderTest().ask(NAMED, 3)
    assert [each.name for each in response.supported_features] == ["metadata.version"]
    assert len(response.finalized_features) > 1


def test_a_feature_that_this_broker_does_not_support_is_not_told() -> None:
    node = NodeUnderTest(2)
    response = node.ask(NAMED, 4)
    assert (response.supported_features, response.finalized_features) == ([], [])


@pytest.mark.parametrize("name", ["", "-test", "te st", "test-"])
def test_software_with_a_strange_name_is_refused(name: str) -> None:
    request = ApiVersionsRequest(client_software_name=name, client_software_version="1.0")
    assert NodeUnderTest().ask(request, 3).error_code == ErrorCode.INVALID_REQUEST


# -- DescribeCluster


@pytest.mark.parametrize("version", range(3))
def test_the_cluster_is_described_with_the_address_that_was_dialled(version: int) -> None:
    response = NodeUnderTest().ask(DescribeClusterRequest(include_cluster_authorized_operations=True), version)
    assert [(node.broker_id, node.host, node.port) for node in response.brokers] == [(1, "192.0.2.7", 19092)]
    assert (response.cluster_id, response.controller_id) == ("test-cluster", 1)
    assert response.cluster_authorized_operations == 8096


def test_fenced_brokers_are_shown_to_who_asks_for_them() -> None:
    node = NodeUnderTest(1)
    node.cluster.register(2)
    plain = node.ask(DescribeClusterRequest())
    assert [(broker.broker_id, broker.is_fenced) for broker in plain.brokers] == [(1, False)]
    full = node.ask(DescribeClusterRequest(include_fenced_brokers=True))
    assert [(broker.broker_id, broker.is_fenced) for broker in full.brokers] == [(1, False), (2, True)]
    assert full.controller_id == 1


@pytest.mark.parametrize(
    ("endpoint_type", "error"),
    [(0, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE), (2, ErrorCode.MISMATCHED_ENDPOINT_TYPE)],
)
def test_brokers_do_not_describe_controllers(endpoint_type: int, error: ErrorCode) -> None:
    response = NodeUnderTest().ask(DescribeClusterRequest(endpoint_type=endpoint_type), 1)
    assert (response.error_code, response.brokers) == (error, [])
    assert response.error_message


# -- DescribeTopicPartitions


def describe(node: NodeUnderTest, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None) -> Any:
    at = None if cursor is None else Cursor(topic_name=cursor[0], partition_index=cursor[1])
    topics = [TopicRequest(name=name) for name in names]
    return node.ask(DescribeTopicPartitionsRequest(topics=topics, response_partition_limit=limit, cursor=at))


def shown(response: Any) -> list[tuple[str, list[int]]]:
    return [(topic.name, [partition.partition_index for partition in topic.partitions]) for topic in response.topics]


def next_of(response: Any) -> tuple[str, int] | None:
    cursor = response.next_cursor
    return None if cursor is None else (cursor.topic_name, cursor.partition_index)


@pytest.fixture
def three_topics() -> NodeUnderTest:
    node = NodeUnderTest()
    for name, partitions in (("c", 1), ("a", 3), ("b", 2)):
        node.create(name, partitions)
    return node


def test_topics_come_in_the_order_of_their_names(three_topics: NodeUnderTest) -> None:
    response = describe(three_topics)
    assert shown(response) == [("a", [0, 1, 2]), ("b", [0, 1]), ("c", [0])]
    assert next_of(response) is None


@pytest.mark.parametrize("limit", range(1, 8))
def test_all_pages_together_are_everything_once(three_topics: NodeUnderTest, limit: int) -> None:
    seen: list[tuple[str, int]] = []
    cursor: tuple[str, int] | None = None
    for _ in range(10):
        page = describe(three_topics, limit=limit, cursor=cursor)
        partitions = [(name, index) for name, indexes in shown(page) for index in indexes]
        assert 1 <= len(partitions) <= limit
        seen += partitions
        cursor = next_of(page)
        if cursor is None:
            break
    assert seen == [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1), ("c", 0)]


def test_a_page_is_bounded_by_the_brokers_setting_too() -> None:
    node = NodeUnderTest(settings=("max.request.partition.size.limit=2",))
    node.create("t", 5)
    response = describe(node)
    assert (shown(response), next_of(response)) == ([("t", [0, 1])], ("t", 2))


def test_topics_that_do_not_exist_have_an_error_and_are_not_created(three_topics: NodeUnderTest) -> None:
    response = describe(three_topics, "nowhere", "a", "bad name")
    assert [(topic.name, topic.error_code) for topic in response.topics] == [
        ("a", ErrorCode.NONE),
        ("bad name", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("nowhere", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert three_topics.controller.submitted == []


@pytest.mark.parametrize("cursor", [("z", 0), ("a", -1)])
def test_a_cursor_that_no_page_had_is_refused(three_topics: NodeUnderTest, cursor: tuple[str, int]) -> None:
    response = describe(three_topics, "a", cursor=cursor)
    assert [(topic.name, topic.error_code) for topic in response.topics] == [("a", ErrorCode.INVALID_REQUEST)]


def test_a_cursor_whose_topic_is_gone_goes_on_with_the_next(three_topics: NodeUnderTest) -> None:
    assert shown(describe(three_topics, cursor=("aa", 5))) == [("b", [0, 1]), ("c", [0])]
