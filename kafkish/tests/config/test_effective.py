"""What configs amount to, and what is said about them."""

from itertools import pairwise

import pytest

from kafkish.config.describe import ConfigRow, describe
from kafkish.config.documentation import documentation_of
from kafkish.config.effective import group_values, topic_values
from kafkish.config.load import DEFAULTS
from kafkish.config.node import NodeConfigs
from kafkish.config.tables import BROKER, CLIENT_METRICS, GROUP, TOPIC
from kafkish.config.types import ConfigError, ConfigSource, ResourceType

NODE = NodeConfigs(DEFAULTS)
RETENTION = [
    ({}, 604_800_000),
    ({"log.retention.hours": "1"}, 3_600_000),
    ({"log.retention.hours": "1", "log.retention.minutes": "1"}, 60_000),
    ({"log.retention.hours": "1", "log.retention.minutes": "1", "log.retention.ms": "1"}, 1),
    ({"log.retention.hours": "-5"}, -1),
]


def row(rows: list[ConfigRow]) -> ConfigRow:
    (only,) = rows
    return only


@pytest.mark.parametrize(("static", "retention_ms"), RETENTION)
def test_retention_is_the_finest_unit_that_is_set(static: dict[str, str], retention_ms: int) -> None:
    assert topic_values({}, NodeConfigs({**DEFAULTS, **static}))["retention_ms"] == retention_ms


def test_a_topic_goes_by_its_nearest_layer() -> None:
    layers = [
        ({}, {}, {}),
        ({"log.segment.bytes": "2000000"}, {}, {}),
        ({"log.segment.bytes": "2000000"}, {"log.segment.bytes": "3000000"}, {}),
        ({"log.segment.bytes": "2000000"}, {"log.segment.bytes": "3000000"}, {"log.segment.bytes": "4000000"}),
    ]
    nodes = [NodeConfigs({**DEFAULTS, **static}, cluster, own) for static, cluster, own in layers]
    found = [topic_values({}, node)["segment_bytes"] for node in nodes]
    assert [*found, topic_values({"segment.bytes": "5000000"}, nodes[-1])["segment_bytes"]] == [
        1_073_741_824, 2_000_000, 3_000_000, 4_000_000, 5_000_000,
    ]  # fmt: skip
    sources = [row(describe(ResourceType.TOPIC, "t", {}, node, ["segment.bytes"])).source for node in nodes]
    assert all(weaker > stronger for weaker, stronger in pairwise(sources))


def test_a_finer_dynamic_unit_replaces_a_coarser_static_one() -> None:
    node = NodeConfigs({**DEFAULTS, "log.roll.hours": "1"}, {"log.roll.ms": "5"})
    assert topic_values({}, node)["segment_ms"] == 5


def test_values_have_pythons_types() -> None:
    values = topic_values({"cleanup.policy": "compact,delete", "min.cleanable.dirty.ratio": "0.1"}, NODE)
    assert values["cleanup_policy"] == ("compact", "delete")
    assert values["min_cleanable_dirty_ratio"] == 0.1
    assert values["preallocate"] is False
    assert values["compression_type"] == "producer"
    assert set(values) == {name.replace(".", "_") for name in TOPIC if name != "internal.segment.bytes"}


def test_segments_may_be_tiny_in_tests() -> None:
    assert topic_values({"internal.segment.bytes": "100"}, NODE)["segment_bytes"] == 100


def test_local_retention_is_retention_unless_it_is_set() -> None:
    values = topic_values({"retention.ms": "7", "retention.bytes": "8", "local.retention.bytes": "5"}, NODE)
    assert (values["local_retention_ms"], values["local_retention_bytes"]) == (7, 5)


def test_a_groups_values_lie_between_the_brokers_bounds() -> None:
    node = NodeConfigs({**DEFAULTS, "group.consumer.max.session.timeout.ms": "50000"})
    assert group_values({"consumer.session.timeout.ms": "60000"}, node)["consumer_session_timeout_ms"] == 50_000
    assert group_values({}, node)["consumer_session_timeout_ms"] == 45_000


def test_stored_configs_that_cannot_hold_are_passed_over() -> None:
    node = NodeConfigs(
        DEFAULTS, {"log.segment.bytes": "many", "node.id": "9", "ssl.key.password": "x", "log.roll.ms": "5"}
    )
    assert dict(node.cluster) == {"log.roll.ms": "5"}


def test_secrets_are_never_described() -> None:
    static = {**DEFAULTS, "ssl.key.password": "canary", "listener.name.x.ssl.key.password": "canary", "odd": "canary"}
    rows = describe(ResourceType.BROKER, "1", {}, NodeConfigs(static, {}, {"ssl.keystore.password": "canary"}))
    assert "canary" not in repr(rows)
    assert sum(each.source is ConfigSource.STATIC_BROKER and each.sensitive for each in rows) == 3


def test_only_the_configs_that_are_asked_for_are_described() -> None:
    rows = describe(ResourceType.TOPIC, "t", {}, NODE, ["retention.ms", "no.such.config"])
    assert [each.name for each in rows] == ["retention.ms"]


def test_a_resource_without_configs_is_refused() -> None:
    with pytest.raises(ConfigError, match="Unsupported resource type"):
        describe(ResourceType.BROKER_LOGGER, "1", {}, NODE)


def test_every_config_has_a_sentence() -> None:
    sentences = {name: documentation_of(name) for name in (*TOPIC, *GROUP, *CLIENT_METRICS, *BROKER)}
    assert [name for name, text in sentences.items() if not text.endswith(".") or "plug-in" in text] == []


def test_a_sentence_says_when_a_config_is_of_no_use() -> None:
    assert "does not use it" in documentation_of("num.io.threads")
    assert "does not use it" not in documentation_of("listener.name.internal.max.connections")
