"""Configs over the wire: described, listed, altered; what a broker decides itself, and what the controller does."""

import logging
from typing import Any

import pytest

from kafkish.handlers import describe_configs
from kafkish.tests.handlers.node import NodeUnderTest
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages import alter_configs as legacy
from kafkish_protocol.messages import incremental_alter_configs as incremental
from kafkish_protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kafkish_protocol.messages.list_config_resources import ListConfigResourcesRequest

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND = 0, 1, 2


def describe(node: NodeUnderTest, kind: int, name: str, *keys: str, version: int = 4, **wanted: bool) -> Any:
    asked = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=list(keys) or None)
    (result,) = node.ask(DescribeConfigsRequest(resources=[asked], **wanted), version).results
    assert (result.resource_type, result.resource_name) == (kind, name)
    return result


def alter(
    node: NodeUnderTest, *resources: tuple[int, str, dict[str, Any]], validate_only: bool = False, version: int = 1
) -> list[tuple[int, str | None]]:
    """Alter incrementally: a text sets, None deletes, a pair is an operation and its value."""

    def change(name: str, wanted: Any) -> incremental.AlterableConfig:
        operation, value = wanted if isinstance(wanted, tuple) else (SET if wanted is not None else DELETE, wanted)
        return incremental.AlterableConfig(name=name, config_operation=operation, value=value)

    asked = [
        incremental.AlterConfigsResource(
            resource_type=kind, resource_name=name, configs=[change(key, value) for key, value in changes.items()]
        )
        for kind, name, changes in resources
    ]
    request = incremental.IncrementalAlterConfigsRequest(resources=asked, validate_only=validate_only)
    rows = node.ask(request, version).responses
    assert [(row.resource_type, row.resource_name) for row in rows] == [(kind, name) for kind, name, _ in resources]
    return [(row.error_code, row.error_message) for row in rows]


@pytest.fixture
def node() -> NodeUnderTest:
    made = NodeUnderTest()
    made.create("t")
    return made


# -- describing


@pytest.mark.parametrize("version", range(1, 5))
def test_a_topics_configs_say_where_they_come_from(node: NodeUnderTest, version: int) -> None:
    alter(node, (TOPIC, "t", {"retention.ms": "1000"}))
    result = describe(node, TOPIC, "t", version=version, include_synonyms=True)
    rows = {config.name: config for config in result.configs}
    assert len(rows) > 30
    assert (rows["retention.ms"].value, rows["retention.ms"].config_source) == ("1000", 1)
    assert [synonym.name for synonym in rows["retention.ms"].synonyms] == ["retention.ms"]
    assert (rows["cleanup.policy"].value, rows["cleanup.policy"].config_source) == ("delete", 5)


def test_only_the_configs_that_are_asked_for_are_told(node: NodeUnderTest) -> None:
    result = describe(node, TOPIC, "t", "retention.ms", "no.such.config")
    assert [config.name for config in result.configs] == ["retention.ms"]


def test_synonyms_and_documentation_are_told_where_they_are_wanted(node: NodeUnderTest) -> None:
    (bare,) = describe(node, TOPIC, "t", "segment.bytes").configs
    wanted = {"include_synonyms": True, "include_documentation": True}
    (full,) = describe(node, TOPIC, "t", "segment.bytes", **wanted).configs
    assert (bare.synonyms, bare.documentation) == ([], None)
    assert [synonym.name for synonym in full.synonyms] == ["log.segment.bytes"]
    assert full.documentation


@pytest.mark.parametrize(
    ("kind", "name", "error"),
    [
        (TOPIC, "nowhere", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "bad name", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (BROKER, "2", ErrorCode.INVALID_REQUEST),
        (BROKER, "one", ErrorCode.INVALID_REQUEST),
        (LOGGER, "", ErrorCode.INVALID_REQUEST),
        (LOGGER, "2", ErrorCode.INVALID_REQUEST),
        (GROUP, "", ErrorCode.INVALID_REQUEST),
        (CLIENT_METRICS, "", ErrorCode.INVALID_REQUEST),
        (3, "x", ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_cannot_be_described_has_an_error(node: NodeUnderTest, kind: int, name: str, error: ErrorCode) -> None:
    result = describe(node, kind, name)
    assert (result.error_code, result.configs) == (error, [])


def test_groups_that_nobody_has_seen_have_configs(node: NodeUnderTest) -> None:
    assert describe(node, GROUP, "g").configs


def test_a_secret_is_never_told() -> None:
    node = NodeUnderTest(settings=("ssl.keystore.password=hush",))
    (row,) = describe(node, BROKER, "1", "ssl.keystore.password", include_synonyms=True).configs
    assert (row.is_sensitive, row.value) == (True, None)
    assert [synonym.value for synonym in row.synonyms] == [None]


# -- listing


def test_all_that_has_configs_is_listed(node: NodeUnderTest) -> None:
    alter(node, (GROUP, "g", {"consumer.session.timeout.ms": "50000"}), (CLIENT_METRICS, "m", {"interval.ms": "100"}))
    response = node.ask(ListConfigResourcesRequest())
    found = {(resource.resource_type, resource.resource_name) for resource in response.config_resources}
    assert found == {(TOPIC, "t"), (BROKER, "1"), (LOGGER, "1"), (GROUP, "g"), (CLIENT_METRICS, "m")}


def test_types_are_chosen_from_version_1_on_and_version_0_has_client_metrics(node: NodeUnderTest) -> None:
    alter(node, (CLIENT_METRICS, "m", {"interval.ms": "100"}))
    topics = node.ask(ListConfigResourcesRequest(resource_types=[TOPIC, TOPIC]), 1).config_resources
    assert [resource.resource_name for resource in topics] == ["t"]
    assert [resource.resource_name for resource in node.ask(ListConfigResourcesRequest(), 0).config_resources] == ["m"]
    unknown = node.ask(ListConfigResourcesRequest(resource_types=[3]), 1)
    assert unknown.error_code == ErrorCode.UNSUPPORTED_VERSION


# -- altering


@pytest.mark.parametrize("version", [0, 1])
def test_rows_keep_the_order_of_the_request_whoever_decides(node: NodeUnderTest, version: int) -> None:
    rows = alter(
        node,
        (TOPIC, "t", {"retention.ms": "1000"}),
        (3, "x", {}),
        (TOPIC, "nowhere", {"retention.ms": "1000"}),
        (BROKER, "2", {}),
        (TOPIC, "t2", {"retention.ms": "soon"}),
        version=version,
    )
    assert [code for code, _ in rows] == [
        ErrorCode.NONE,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_CONFIG,
    ]
    ((request, _),) = node.controller.submitted
    assert isinstance(request, incremental.IncrementalAlterConfigsRequest)
    assert [asked.resource_name for asked in request.resources] == ["t", "nowhere", "t2"]


def test_a_resource_that_is_named_twice_is_not_changed(node: NodeUnderTest) -> None:
    rows = alter(node, (TOPIC, "t", {"retention.ms": "1"}), (TOPIC, "t", {"retention.ms": "2"}))
    assert rows == [(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")] * 2
    assert node.cluster.image.config(TOPIC, "t") == {}


def test_a_broker_checks_its_own_configs_before_the_controller_hears_of_them(node: NodeUnderTest) -> None:
    ((code, message),) = alter(node, (BROKER, "1", {"node.id": "2"}))
    assert (code, message) == (ErrorCode.INVALID_REQUEST, "Cannot update these configs dynamically: [node.id]")
    assert node.controller.submitted == []
    assert alter(node, (BROKER, "1", {"log.cleaner.threads": "2"})) == [(ErrorCode.NONE, None)]
    assert node.cluster.image.config(BROKER, "1") == {"log.cleaner.threads": "2"}


@pytest.mark.parametrize("version", range(3))
def test_the_old_way_replaces_all_configs(node: NodeUnderTest, version: int) -> None:
    alter(node, (TOPIC, "t", {"retention.ms": "1000", "segment.bytes": "2000000"}))
    asked = [
        legacy.AlterConfigsResource(
            resource_type=kind,
            resource_name=name,
            configs=[legacy.AlterableConfig(name="retention.ms", value="5")] if kind == TOPIC else [],
        )
        for kind, name in ((TOPIC, "t"), (LOGGER, "1"), (BROKER, "7"))
    ]
    rows = node.ask(legacy.AlterConfigsRequest(resources=asked), version).responses
    assert [row.error_code for row in rows] == [ErrorCode.NONE, ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST]
    assert rows[1].error_message == "Unknown resource type 8"
    assert node.cluster.image.config(TOPIC, "t") == {"retention.ms": "5"}


def test_validation_changes_nothing(node: NodeUnderTest) -> None:
    assert alter(node, (TOPIC, "t", {"retention.ms": "1000"}), validate_only=True) == [(ErrorCode.NONE, None)]
    assert node.cluster.image.config(TOPIC, "t") == {}


def test_a_lost_controller_is_told_on_every_row(node: NodeUnderTest) -> None:
    node.controller.is_lost = True
    rows = alter(node, (TOPIC, "t", {"retention.ms": "1000"}), (3, "x", {}))
    assert {code for code, _ in rows} == {ErrorCode.NOT_CONTROLLER}


# -- loggers


@pytest.fixture
def logger() -> logging.Logger:
    made = logging.getLogger("kafkish.tests.levels")
    made.setLevel(logging.NOTSET)
    return made


def test_a_loggers_level_is_set_shown_and_removed(node: NodeUnderTest, logger: logging.Logger) -> None:
    assert alter(node, (LOGGER, "1", {logger.name: "DEBUG"})) == [(ErrorCode.NONE, None)]
    assert logger.level == logging.DEBUG
    (row,) = describe(node, LOGGER, "1", logger.name).configs
    assert (row.value, row.config_source, row.read_only) == ("DEBUG", 6, False)
    assert alter(node, (LOGGER, "1", {logger.name: None})) == [(ErrorCode.NONE, None)]
    assert logger.level == logging.NOTSET
    assert node.controller.submitted == []


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"kafkish.tests.levels": "LOUD"}, ErrorCode.INVALID_CONFIG),
        ({"no.such.logger": "INFO"}, ErrorCode.INVALID_CONFIG),
        ({"root": None}, ErrorCode.INVALID_REQUEST),
        ({"root": (APPEND, "INFO")}, ErrorCode.INVALID_REQUEST),
        ({"root": (9, "INFO")}, ErrorCode.INVALID_REQUEST),
        ({"root": (SET, None)}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_level_that_cannot_be_set_leaves_all_others_as_they_are(
    node: NodeUnderTest, logger: logging.Logger, changes: dict[str, Any], error: ErrorCode
) -> None:
    ((code, _),) = alter(node, (LOGGER, "1", {"kafkish.tests.levels": "DEBUG"} | changes))
    assert (code, logger.level) == (error, logging.NOTSET)


def test_another_brokers_loggers_are_not_this_ones(node: NodeUnderTest, logger: logging.Logger) -> None:
    ((code, message),) = alter(node, (LOGGER, "2", {logger.name: "DEBUG"}))
    assert (code, message) == (ErrorCode.INVALID_REQUEST, "Unexpected node id. Expected 1, but received 2")


def test_many_resources_are_described_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(describe_configs, "_AT_ONCE", 2)
    node = NodeUnderTest(1)
    asked = [DescribeConfigsResource(resource_type=TOPIC, resource_name=f"t{number}") for number in range(5)]
    for each in asked:
        node.create(each.resource_name)
    answer = node.ask(DescribeConfigsRequest(resources=asked))
    assert node.timers.turns == 2
    assert [(row.resource_name, row.error_code) for row in answer.results] == [(f"t{n}", 0) for n in range(5)]
