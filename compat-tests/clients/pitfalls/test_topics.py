"""Topics and configs: creation by asking, and configs as Kafka describes them."""

from collections.abc import Callable

import batches
import control
import pytest
from kafka.protocol.admin import IncrementalAlterConfigsRequest
from waiting import until
from wire import Wire

INVALID_TOPIC, INVALID_CONFIG, UNKNOWN_TOPIC = 17, 40, 3
SET, DELETE, APPEND, SUBTRACT = range(4)
DEFAULT_CONFIG, TOPIC_CONFIG = 5, 1

# What Kafka 4.3 describes of a topic.
TOPIC_CONFIGS = """
cleanup.policy compression.gzip.level compression.lz4.level compression.type compression.zstd.level delete.retention.ms
file.delete.delay.ms flush.messages flush.ms follower.replication.throttled.replicas index.interval.bytes
leader.replication.throttled.replicas local.retention.bytes local.retention.ms max.compaction.lag.ms max.message.bytes
message.timestamp.after.max.ms message.timestamp.before.max.ms message.timestamp.type min.cleanable.dirty.ratio
min.compaction.lag.ms min.insync.replicas preallocate remote.log.copy.disable remote.log.delete.on.disable
remote.storage.enable retention.bytes retention.ms segment.bytes segment.index.bytes segment.jitter.ms segment.ms
unclean.leader.election.enable
"""


# -- creation by asking


@pytest.mark.parametrize("version", [4, 8, 12])
def test_metadata_creates_a_topic_if_it_may(wire: Wire, fresh: Callable[[str], str], version: int) -> None:
    topic = fresh("topic")
    first = control.metadata(wire, topic, create=True, version=version)
    assert first.error_code in {0, 3, 5}
    until(lambda: control.metadata(wire, topic, version=version).error_code == 0, "the topic")
    assert len(control.metadata(wire, topic, version=version).partitions) == 1
    control.wait_for_partitions(wire, topic, 1)
    control.produce(wire, topic, batches.values(b"value"))


def test_metadata_creates_no_topic_if_it_may_not(wire: Wire, fresh: Callable[[str], str]) -> None:
    topic = fresh("topic")
    for _ in range(3):
        assert control.metadata(wire, topic, create=False).error_code == UNKNOWN_TOPIC


@pytest.mark.parametrize("name", ["not a name", "..", "x" * 250, "slash/"])
def test_metadata_refuses_a_name_that_cannot_be(wire: Wire, name: str) -> None:
    assert control.metadata(wire, name, create=True).error_code == INVALID_TOPIC


# -- configs


def alter(wire: Wire, changes: dict[str, list[tuple[int, str, str | None]]]) -> dict[str, int]:
    """Each topic's error code."""
    entry = IncrementalAlterConfigsRequest.AlterConfigsResource
    resources = [
        entry(
            resource_type=2,
            resource_name=topic,
            configs=[entry.AlterableConfig(config_operation=op, name=name, value=value) for op, name, value in ops],
        )
        for topic, ops in changes.items()
    ]
    answer = wire.send(IncrementalAlterConfigsRequest(resources=resources, validate_only=False), 1)
    return {response.resource_name: response.error_code for response in answer.responses}


def test_all_of_kafkas_topic_configs_are_described(wire: Wire, topic: str) -> None:
    configs = control.topic_configs(wire, topic)
    assert sorted(config.name for config in configs) == TOPIC_CONFIGS.split()
    assert all(config.documentation and config.config_type > 0 for config in configs)
    assert not any(config.read_only or config.is_sensitive for config in configs)


def test_source_and_synonyms_tell_where_a_value_comes_from(wire: Wire, topic: str) -> None:
    key = "max.message.bytes"
    default = control.topic_config(wire, topic, key)
    assert (default.value, default.config_source) == ("1048588", DEFAULT_CONFIG)
    assert alter(wire, {topic: [(SET, key, "2000")]}) == {topic: 0}
    until(lambda: control.topic_config(wire, topic, key).value == "2000", "the new value")
    changed = control.topic_config(wire, topic, key)
    assert changed.config_source == TOPIC_CONFIG
    assert [(synonym.name, synonym.value, synonym.source) for synonym in changed.synonyms] == [
        (key, "2000", TOPIC_CONFIG),
        ("message.max.bytes", "1048588", DEFAULT_CONFIG),
    ]
    assert alter(wire, {topic: [(DELETE, key, None)]}) == {topic: 0}
    until(lambda: control.topic_config(wire, topic, key).config_source == DEFAULT_CONFIG, "the default again")


def test_lists_are_appended_to_and_subtracted_from(wire: Wire, topic: str) -> None:
    key = "cleanup.policy"
    assert alter(wire, {topic: [(APPEND, key, "compact")]}) == {topic: 0}
    until(lambda: control.topic_config(wire, topic, key).value == "delete,compact", "both policies")
    assert alter(wire, {topic: [(SUBTRACT, key, "delete")]}) == {topic: 0}
    until(lambda: control.topic_config(wire, topic, key).value == "compact", "one policy")
    assert alter(wire, {topic: [(APPEND, "retention.ms", "1")]}) == {topic: INVALID_CONFIG}


def test_config_that_cannot_be_fails_alone(wire: Wire, make_topic: Callable[..., str]) -> None:
    good, bad, unknown = make_topic(), make_topic(), make_topic()
    changes: dict[str, list[tuple[int, str, str | None]]] = {
        good: [(SET, "retention.ms", "1234567")],
        bad: [(SET, "retention.ms", "soon")],
        unknown: [(SET, "no.such.config", "1")],
    }
    assert alter(wire, changes) == {good: 0, bad: INVALID_CONFIG, unknown: INVALID_CONFIG}
    until(lambda: control.topic_config(wire, good, "retention.ms").value == "1234567", "the good one's value")
    assert control.topic_config(wire, bad, "retention.ms").value == "-1"
