"""What a request to alter configs changes. Apache Kafka's own answers are compared elsewhere."""

import pytest

from kafkish.config.alter import Operation, OperationType, alter_all, alter_incrementally, apply_changes
from kafkish.config.load import DEFAULTS
from kafkish.config.node import NodeConfigs
from kafkish.config.types import ConfigError, ResourceType
from kafkish_protocol.error_codes import ErrorCode

SET, DELETE, APPEND, SUBTRACT = OperationType
TOPIC, BROKER = ResourceType.TOPIC, ResourceType.BROKER
NODE = NodeConfigs(DEFAULTS)
CURRENT = {"retention.ms": "1", "cleanup.policy": "delete"}


@pytest.mark.parametrize(
    ("operations", "changes"),
    [
        ([Operation("retention.ms", SET, "2")], {"retention.ms": "2"}),
        ([Operation("retention.ms", SET, "1")], {}),
        ([Operation("retention.ms", DELETE, None)], {"retention.ms": None}),
        ([Operation("segment.ms", DELETE, None)], {}),
        ([Operation("cleanup.policy", APPEND, "compact")], {"cleanup.policy": "delete,compact"}),
        ([Operation("cleanup.policy", APPEND, "delete")], {}),
        ([Operation("cleanup.policy", SUBTRACT, "delete")], {"cleanup.policy": ""}),
    ],
)
def test_changes_are_what_differs(operations: list[Operation], changes: dict[str, str | None]) -> None:
    assert alter_incrementally(TOPIC, "topic", CURRENT, operations, NODE) == changes


def test_appending_to_a_config_that_is_not_set_begins_with_its_default() -> None:
    changes = alter_incrementally(TOPIC, "topic", {}, [Operation("cleanup.policy", APPEND, "compact")], NODE)
    assert changes == {"cleanup.policy": "delete,compact"}


def test_what_a_full_alteration_does_not_name_goes_away() -> None:
    changes = alter_all(TOPIC, "topic", CURRENT, [("segment.ms", "5"), ("cleanup.policy", "delete")], NODE)
    assert changes == {"retention.ms": None, "segment.ms": "5"}
    assert apply_changes(CURRENT, changes) == {"segment.ms": "5", "cleanup.policy": "delete"}


def test_a_brokers_config_is_written_again_even_if_it_stays_the_same() -> None:
    current = {"log.cleaner.threads": "2"}
    node = NodeConfigs(DEFAULTS, current)
    assert alter_incrementally(BROKER, "", current, [Operation("log.cleaner.threads", SET, "2")], node) == current


def test_an_operation_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ConfigError) as refused:
        alter_incrementally(TOPIC, "topic", {}, [Operation("retention.ms", 4, "1")], NODE)
    assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_a_topics_name_is_looked_at_before_the_values() -> None:
    with pytest.raises(ConfigError, match="'a/b' contains") as refused:
        alter_incrementally(TOPIC, "a/b", {}, [Operation("retention.ms", SET, "soon")], NODE)
    assert refused.value.code is ErrorCode.INVALID_TOPIC_EXCEPTION


def test_nothing_is_changed_when_one_of_several_operations_is_wrong() -> None:
    operations = [Operation("retention.ms", SET, "2"), Operation("segment.ms", SET, "0")]
    with pytest.raises(ConfigError):
        alter_incrementally(TOPIC, "topic", CURRENT, operations, NODE)


def test_remote_storage_is_not_turned_off_with_remote_records_left() -> None:
    current = {"remote.storage.enable": "true"}
    with pytest.raises(ConfigError, match="without deleting remote data"):
        alter_incrementally(TOPIC, "topic", current, [Operation("remote.storage.enable", DELETE, None)], NODE)
    both = [Operation("remote.storage.enable", SET, "false"), Operation("remote.log.delete.on.disable", SET, "true")]
    assert len(alter_incrementally(TOPIC, "topic", current, both, NODE)) == 2


def test_listeners_are_not_changed_while_the_broker_runs() -> None:
    with pytest.raises(ConfigError, match="at its start only"):
        alter_incrementally(BROKER, "1", {}, [Operation("listeners", SET, "PLAINTEXT://:9095")], NODE)


def test_long_lists_are_altered_in_a_time_that_grows_with_their_length_only() -> None:
    """A quadratic loop would need hours for these, and the test would time out."""
    key, many = "leader.replication.throttled.replicas", ",".join(f"{partition}:1" for partition in range(500_000))
    subtraction = [Operation(key, SUBTRACT, many)]
    assert alter_incrementally(TOPIC, "topic", {key: many}, subtraction, NODE) == {key: ""}
    with pytest.raises(ConfigError, match="exceeds the maximum value size"):
        alter_incrementally(TOPIC, "topic", {key: many}, [Operation(key, APPEND, f"{many},0:2")], NODE)
