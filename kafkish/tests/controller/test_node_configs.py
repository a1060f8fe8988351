"""The config room behind the controller's port."""

import pytest

from kafkish.controller.node_configs import NodeConfigPort
from kafkish.controller.operation import ApiError
from kafkish.controller.ports import ConfigChange
from kafkish.metadata.image import ALL_BROKERS, ConfigResource
from kafkish_protocol.error_codes import ErrorCode

TOPIC, ITSELF, OTHER = ConfigResource(2, "t"), ConfigResource(4, "1"), ConfigResource(4, "2")
STATIC = {"node.id": "1", "min.insync.replicas": "2"}


@pytest.fixture
def port() -> NodeConfigPort:
    return NodeConfigPort(STATIC)


def test_the_nearest_layer_holds_for_a_topic(port: NodeConfigPort) -> None:
    name = "min.insync.replicas"
    configs: dict[ConfigResource, dict[str, str]] = {}
    assert port.topic_value(configs, "t", name) == "2"
    for resource, value in ((OTHER, "9"), (ALL_BROKERS, "3"), (ITSELF, "4"), (TOPIC, "5")):
        configs = {**configs, resource: {name: value}}
        assert port.topic_value(configs, "t", name) == ("2" if resource is OTHER else value)
    assert port.topic_value({}, "t", name) == "2", "an image from before has its own layers"
    assert port.static_min_isr == 2


def test_a_topics_configs_are_shown_with_their_sources(port: NodeConfigPort) -> None:
    configs = {ALL_BROKERS: {"log.retention.ms": "7"}}
    rows = {row.name: (row.value, row.source) for row in port.describe_topic(configs, {"segment.bytes": "2000000"})}
    assert rows["segment.bytes"] == ("2000000", 1)
    assert rows["retention.ms"] == ("7", 3)
    assert rows["min.insync.replicas"] == ("2", 4)
    assert rows["cleanup.policy"] == ("delete", 5)


def test_changes_are_those_that_have_to_be_written(port: NodeConfigPort) -> None:
    configs = {TOPIC: {"retention.ms": "5", "segment.bytes": "2000000"}}
    changes = [ConfigChange("retention.ms", 0, "5"), ConfigChange("segment.bytes", 1, None)]
    assert port.alter(configs, TOPIC, changes) == {"segment.bytes": None}
    assert port.replace(configs, TOPIC, [("retention.ms", "6")]) == {"retention.ms": "6", "segment.bytes": None}


def test_what_cannot_be_is_refused_as_the_client_is_told_it(port: NodeConfigPort) -> None:
    with pytest.raises(ApiError) as refused:
        port.alter({}, TOPIC, [ConfigChange("retention.ms", 0, "soon")])
    assert refused.value.code == ErrorCode.INVALID_CONFIG
    assert refused.value.message == "Invalid value soon for configuration retention.ms: Not a number of type LONG"
    with pytest.raises(ApiError) as refused:
        port.replace({}, ALL_BROKERS, [("log.dirs", "elsewhere")])
    assert refused.value.code == ErrorCode.INVALID_REQUEST
