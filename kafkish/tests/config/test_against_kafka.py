"""Apache Kafka and kafkish are asked the same about configs, and say the same."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
from apache_kafka import ApacheKafka

from kafkish.config.alter import (
    Operation,
    OperationType,
    alter_all,
    alter_incrementally,
    apply_changes,
    check_min_insync_replicas,
)
from kafkish.config.describe import ConfigRow, describe
from kafkish.config.node import NodeConfigs
from kafkish.config.tables import BROKER, CLIENT_METRICS, GROUP, QUOTA, TOPIC
from kafkish.config.types import ConfigError, ResourceType, Update
from kafkish.tests.config import differences
from kafkish.tests.config.oracle import NODE, TOPIC_NAME, Oracle

pytestmark = pytest.mark.kafka

SET, DELETE, APPEND, SUBTRACT = OperationType

TEXTS = [
    *("", " ", ",", "*", "abc", "true", "TRUE", " false", "no"),
    # integers
    *("0", "1", "2", "3", "4", "9", "10", "17", "18", "22", "23", "99", "100", "999", "1000", "-1", "-2", "-3"),
    *("4999", "5000", "14999", "15000", "44999", "45000", "60000", "60001", "1048575", "1048576", "3600000", "3600001"),
    *("-131072", "-131073", "2147483647", "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808"),
    *("+5", " 7 ", "\t5\n", "5\u00a0", "--5", "+", "-", "+-5", "1_000", "0x10", "١٢", "1,2"),
    # doubles
    *("0.5", ".5", "1.", "1.0f", "1d", "1.01", "1.5", "-0.1", "1e3", "1e400", "NaN", "nan", "Infinity", "-Infinity"),
    # strings and lists
    *("delete", "Delete", "compact", "compact,delete", "compact, delete", "delete,delete", "delete,", "CreateTime"),
    *("LogAppendTime", "createtime", "gzip", "none", "uncompressed", "producer", "snappy", "lz4", "zstd"),
    *("0:1", "0:1,1:2", "0:1,*", "0:1,,1:2", " 0:1 , 1:2 ", "a:b"),
    *("latest", "LATEST", "earliest", "by_duration", "by_duration:", "by_duration:PT1H", "by_duration:-PT1H"),
    *("by_duration:P", "by_duration:PT", "by_duration:P1DT2H3.5S", "read_committed", "read_uncommitted"),
    *("client_id=a", "client_id=[", "foo=a", "client_id=a=b", "client_id=", "client_id=a,client_id=b"),
]

BROKER_TEXTS = [
    *("", "0", "1", "-1", "-2", "2", "3", "5", "abc", "true", "1.5", "0.5", "1000", "100000", "2147483647"),
    *("9223372036854775807", "delete", "gzip", "a,b", "a,a", "CreateTime"),
]

STATIC = {
    "log_retention_minutes": " 1440 ",
    "log_roll_hours": "24",
    "log_flush_scheduler_interval_ms": "5000",
    "log_initial_task_delay_ms": "100",
    "log_cleanup_policy": "compact, delete",
    "log_cleaner_min_cleanable_ratio": "0.30",
    "log_cleaner_io_max_bytes_per_second": "12345678.9",
    "auto_create_topics_enable": "FALSE",
    "compression_type": "zstd",
    "num_partitions": "+3",
    "group_consumer_session_timeout_ms": "46000",
    "ssl_keystore_password": "secret",
    "listener_name_internal_ssl_keystore_password": "secret",
    "listener_name_plaintext_num_network_threads": "4",
    "my_plugin_key": "x",
}
CLUSTER = {
    "min.insync.replicas": "1",
    "log.retention.ms": "7200000",
    "log.segment.bytes": "104857600",
    "log.cleaner.delete.retention.ms": " 17 ",
    "leader.replication.throttled.rate": "1000",
    "max.connections": "500",
    "unknown.thing": "5",
}
OWN = {"log.retention.ms": "3600000", "log.cleaner.threads": "2", "message.max.bytes": "2000000"}
OVERRIDES = {
    "retention.ms": "1000",
    "cleanup.policy": "compact,delete,compact",
    "min.cleanable.dirty.ratio": "0.250",
    "preallocate": "TRUE",
    "internal.segment.bytes": "100",
    "compression.type": "gzip",
    "leader.replication.throttled.replicas": "0:1, 1:1",
    "segment.bytes": "+1048577",
}
GROUP_OVERRIDES = {"consumer.session.timeout.ms": "50000", "share.auto.offset.reset": "by_duration:PT1H"}
SUBSCRIPTION = {"metrics": "a,b", "match": "client_id=foo.*", "interval.ms": "100"}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    directory = tmp_path_factory.mktemp("plain")
    with ApacheKafka(directory) as kafka:
        yield Oracle(kafka, directory)


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    """Kafka with configs in every layer and of every kind."""
    directory = tmp_path_factory.mktemp("rich")
    with ApacheKafka(directory, **STATIC) as kafka:
        oracle = Oracle(kafka, directory)
        oracle.set(ResourceType.BROKER, "", CLUSTER)
        oracle.set(ResourceType.BROKER, NODE, OWN)
        oracle.set(ResourceType.TOPIC, TOPIC_NAME, OVERRIDES)
        oracle.set(ResourceType.GROUP, "group", GROUP_OVERRIDES)
        oracle.set(ResourceType.CLIENT_METRICS, "subscription", SUBSCRIPTION)
        wait_until(lambda: "interval.ms" in sources(oracle.describe(ResourceType.CLIENT_METRICS, "subscription")))
        yield oracle


def sources(rows: Mapping[str, ConfigRow]) -> list[str]:
    return [name for name, row in rows.items() if not row.is_default]


def wait_until(holds: Callable[[], bool]) -> None:
    """Kafka answers a change before its broker has applied it."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def ours(resource: ResourceType, name: str, overrides: Mapping[str, str], node: NodeConfigs) -> dict[str, ConfigRow]:
    rows = describe(resource, name, overrides, node)
    return {row.name: row for row in rows if not row.name.startswith(differences.OWN_PREFIX)}


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        (ResourceType.BROKER, NODE),
        (ResourceType.BROKER, ""),
        (ResourceType.TOPIC, TOPIC_NAME),
        (ResourceType.GROUP, "group"),
        (ResourceType.CLIENT_METRICS, "subscription"),
    ],
)
def test_untouched_configs_are_described_as_kafka_describes_them(
    plain: Oracle, resource: ResourceType, name: str, show: Callable[[str], None]
) -> None:
    theirs = plain.describe(resource, name)
    assert ours(resource, name, {}, plain.node()) == theirs
    show(f"configs of a {resource.name.lower()} ({name or 'all'}) equal to Apache Kafka's: {len(theirs)}")


@pytest.mark.parametrize(
    ("resource", "name", "overrides"),
    [
        (ResourceType.BROKER, NODE, OWN),
        (ResourceType.BROKER, "", CLUSTER),
        (ResourceType.TOPIC, TOPIC_NAME, OVERRIDES),
        (ResourceType.GROUP, "group", GROUP_OVERRIDES),
        (ResourceType.CLIENT_METRICS, "subscription", SUBSCRIPTION),
    ],
)
def test_configs_in_every_layer_are_described_as_kafka_describes_them(
    rich: Oracle, resource: ResourceType, name: str, overrides: Mapping[str, str]
) -> None:
    theirs = rich.describe(resource, name)
    assert set(overrides) <= set(theirs)
    assert ours(resource, name, overrides, NodeConfigs(rich.static, CLUSTER, OWN)) == theirs


def outcome(alter: Callable[[], object]) -> tuple[int, str | None]:
    """kafkish's error code and message."""
    try:
        alter()
    except ConfigError as error:
        return error.code, error.message
    return 0, None


def answer(
    resource: ResourceType, name: str, current: Mapping[str, str], operations: Sequence[Operation], node: NodeConfigs
) -> tuple[int, str | None]:
    def alter() -> None:
        changes = alter_incrementally(resource, name, current, operations, node)
        check_min_insync_replicas(resource, name, changes)

    return outcome(alter)


@pytest.mark.parametrize(
    ("resource", "name", "table"),
    [
        (ResourceType.TOPIC, TOPIC_NAME, TOPIC),
        (ResourceType.GROUP, "group", GROUP),
        (ResourceType.CLIENT_METRICS, "subscription", CLIENT_METRICS),
    ],
)
def test_every_value_is_taken_or_refused_in_kafkas_words(
    plain: Oracle, resource: ResourceType, name: str, table: Mapping[str, object], show: Callable[[str], None]
) -> None:
    node, differing, asked = plain.node(), [], 0
    for operation in (
        Operation(key, type_, text)
        for key in [*table, "no.such.config"]
        for type_ in (SET, APPEND, SUBTRACT)
        for text in TEXTS
    ):
        kafka, kafkish = plain.alter(resource, name, [operation]), answer(resource, name, {}, [operation], node)
        asked += 1
        if kafka != kafkish:
            differing.append((operation, kafka, kafkish))
    assert differing == []
    show(f"operations on {resource.name.lower()} configs answered word for word as Apache Kafka does: {asked}")


def test_dynamic_broker_configs_are_taken_or_refused_as_by_kafka(plain: Oracle, show: Callable[[str], None]) -> None:
    node, differing, allowed, asked = plain.node(), [], 0, 0
    for name in (NODE, ""):
        for operation in broker_operations():
            current = {} if name else node.cluster
            kafka = plain.alter(ResourceType.BROKER, name, [operation])
            kafkish = answer(ResourceType.BROKER, name, current, [operation], node)
            asked += 1
            if kafka[0] != kafkish[0]:
                known = differences.reason(operation)
                allowed += known is not None
                differing += [] if known else [(name, operation, kafka, kafkish)]
    assert differing == []
    show(f"dynamic broker configs with Apache Kafka's error code: {asked - allowed} of {asked}, the others on purpose")


def broker_operations() -> Iterator[Operation]:
    listeners = ["listener.name.plaintext.ssl.keystore.location", "listener.name.plaintext.max.connections"]
    for name in (*BROKER, *QUOTA, *listeners, "no.such.config"):
        if name.startswith(differences.OWN_PREFIX):
            continue
        fixed = name in BROKER and BROKER[name].update is Update.READ_ONLY
        yield from (Operation(name, SET, text) for text in (["", "1"] if fixed else BROKER_TEXTS))
        yield from (Operation(name, type_, text) for type_ in (DELETE, APPEND, SUBTRACT) for text in ("", "a,b"))


LONGEST = ",".join(f"{partition}:1" for partition in range(4839))
"""Together with what the topic has, as long as a value may be."""

SEQUENCES: list[list[Operation]] = [
    [Operation("min.compaction.lag.ms", SET, "100"), Operation("max.compaction.lag.ms", SET, "50")],
    [Operation("min.compaction.lag.ms", SET, "100"), Operation("max.compaction.lag.ms", SET, "100")],
    [Operation("max.compaction.lag.ms", DELETE, None)],
    [Operation("cleanup.policy", APPEND, "compact"), Operation("retention.ms", SET, "7")],
    [Operation("cleanup.policy", APPEND, "compact,delete,compact,")],
    [Operation("cleanup.policy", SUBTRACT, "delete"), Operation("segment.bytes", DELETE, "ignored")],
    [Operation("leader.replication.throttled.replicas", APPEND, "1:1,0:1")],
    [Operation("leader.replication.throttled.replicas", SUBTRACT, "1:1")],
    [Operation("leader.replication.throttled.replicas", APPEND, "*")],
    [Operation("leader.replication.throttled.replicas", APPEND, LONGEST)],
    [Operation("leader.replication.throttled.replicas", APPEND, LONGEST + "0")],
    [Operation("retention.ms", SET, "1"), Operation("retention.ms", SET, "2")],
    [Operation("retention.ms", SET, None), Operation("segment.ms", APPEND, None)],
    [Operation("retention.ms", APPEND, "1")],
    [Operation("remote.storage.enable", SET, "true")],
    [Operation("retention.bytes", SET, "100"), Operation("local.retention.bytes", SET, "200")],
    [],
]


@pytest.mark.parametrize("operations", SEQUENCES, ids=lambda operations: "-".join(each.name for each in operations))
def test_operations_on_a_topic_that_has_configs_end_as_in_kafka(rich: Oracle, operations: list[Operation]) -> None:
    node = NodeConfigs(rich.static, CLUSTER, OWN)
    expected = answer(ResourceType.TOPIC, TOPIC_NAME, OVERRIDES, operations, node)
    assert rich.alter(ResourceType.TOPIC, TOPIC_NAME, operations) == expected
    if expected[0] == 0:
        changes = alter_incrementally(ResourceType.TOPIC, TOPIC_NAME, OVERRIDES, operations, node)
        name = rich.new_topic(OVERRIDES)
        assert rich.alter(ResourceType.TOPIC, name, operations, validate_only=False)[0] == 0
        expected_rows = ours(ResourceType.TOPIC, name, apply_changes(OVERRIDES, changes), node)
        wait_until(lambda: rich.describe(ResourceType.TOPIC, name) == expected_rows)


@pytest.mark.parametrize(
    ("resource", "name", "configs"),
    [
        (ResourceType.TOPIC, TOPIC_NAME, []),
        (ResourceType.TOPIC, TOPIC_NAME, [("retention.ms", "5"), ("segment.ms", "5")]),
        (ResourceType.TOPIC, TOPIC_NAME, [("retention.ms", "five")]),
        (ResourceType.TOPIC, TOPIC_NAME, [("retention.ms", "5"), ("retention.ms", "5")]),
        (ResourceType.TOPIC, TOPIC_NAME, [("retention.ms", None)]),
        (ResourceType.TOPIC, TOPIC_NAME, [("no.such.config", "5")]),
        (ResourceType.GROUP, "group", [("consumer.session.timeout.ms", "5")]),
        (ResourceType.BROKER, NODE, [("log.retention.ms", "5"), ("node.id", "5")]),
        (ResourceType.BROKER, NODE, [("log.retention.ms", "5")]),
        (ResourceType.BROKER, "7", []),
    ],
)
def test_replacing_all_configs_is_answered_in_kafkas_words(
    rich: Oracle, resource: ResourceType, name: str, configs: list[tuple[str, str | None]]
) -> None:
    current = {ResourceType.TOPIC: OVERRIDES, ResourceType.GROUP: GROUP_OVERRIDES, ResourceType.BROKER: OWN}[resource]
    node = NodeConfigs(rich.static, CLUSTER, OWN)
    expected = outcome(lambda: alter_all(resource, name, current, configs, node))
    assert rich.replace(resource, name, configs) == expected


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        (ResourceType.TOPIC, ""),
        (ResourceType.GROUP, ""),
        (ResourceType.CLIENT_METRICS, ""),
        (ResourceType.BROKER, "7"),
        (ResourceType.BROKER, "one"),
    ],
)
def test_names_of_resources_are_refused_in_kafkas_words(plain: Oracle, resource: ResourceType, name: str) -> None:
    kafka = plain.alter(resource, name, [])
    assert kafka[0] != 0
    assert answer(resource, name, {}, [], plain.node()) == kafka


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        (ResourceType.GROUP, ""),
        (ResourceType.CLIENT_METRICS, ""),
        (ResourceType.BROKER, "7"),
        (ResourceType.BROKER, "one"),
        (ResourceType.BROKER, "-1"),
    ],
)
def test_what_cannot_be_described_is_refused_in_kafkas_words(plain: Oracle, resource: ResourceType, name: str) -> None:
    with pytest.raises(ConfigError) as refused:
        describe(resource, name, {}, plain.node())
    assert (refused.value.code, refused.value.message) == plain.refusal_to_describe(resource, name)
