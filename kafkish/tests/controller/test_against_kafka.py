"""What a client asks of a real Kafka and of our operations: the same answers, and the same records in the log."""

from collections.abc import Callable, Iterator

import apache_kafka
import pytest

from kafkish.controller.describe_client_quotas import describe_client_quotas
from kafkish.controller.list_partition_reassignments import list_partition_reassignments
from kafkish.metadata.versions import ELR_VERSION, GROUP_VERSION, METADATA_VERSION, TRANSACTION_VERSION
from kafkish.tests.controller.oracle import Oracle, comparable
from kafkish.tests.controller.test_alter_configs import APPEND, DELETE, SET, SUBTRACT, change
from kafkish.tests.controller.test_client_quotas import entry
from kafkish.tests.controller.test_create_topics import topic
from kafkish.tests.metadata.kafka_log import wait_for
from kafkish_protocol.messages import alter_configs as legacy
from kafkish_protocol.messages.alter_client_quotas import AlterClientQuotasRequest, AlterClientQuotasRequestEntryData
from kafkish_protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafkish_protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafkish_protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kafkish_protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafkish_protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from kafkish_protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from kafkish_protocol.messages.incremental_alter_configs import AlterConfigsResource, IncrementalAlterConfigsRequest
from kafkish_protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kafkish_protocol.messages.unregister_broker import UnregisterBrokerRequest
from kafkish_protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kafkish_protocol.types import Uuid

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    directory = tmp_path_factory.mktemp("kafka")
    log = directory / "data" / "__cluster_metadata-0"
    with apache_kafka.ApacheKafka(directory) as kafka:
        wait_for(log, lambda image: 1 in image.brokers and image.brokers[1].cordoned_directories is not None)
        made = Oracle(kafka.port, directory)
        made.compare(CreateTopicsRequest(topics=[topic("plain")]))
        yield made


@pytest.fixture(autouse=True)
def nothing_differs(oracle: Oracle, show: Callable[[str], None], request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    what, compared = request.node.name.removeprefix("test_"), oracle.assert_nothing_differs()
    show(f"Kafka's answers and records, {what}: {compared} requests compared, none different")


def without_a_value() -> CreatableTopic:
    made = topic("null-config")
    made.configs = [CreatableTopicConfig(name="retention.ms", value=None)]
    return made


def twisted(name: str, *indexes: int, count: int = -1, factor: int = -1) -> CreatableTopic:
    made = topic(name, assigned=[[1] for _ in indexes])
    for assignment, index in zip(made.assignments, indexes, strict=True):
        assignment.partition_index = index
    made.num_partitions, made.replication_factor = count, factor
    return made


def test_create_topics(oracle: Oracle) -> None:
    for version in range(2, 8):
        oracle.compare(CreateTopicsRequest(topics=[topic(f"v{version}", 2)]), version)
    oracle.compare(CreateTopicsRequest(topics=[topic("default", -1, -1), topic("configs", retention_ms="1")]))
    oracle.compare(CreateTopicsRequest(topics=[topic("min", min_insync_replicas="1")]))
    oracle.compare(CreateTopicsRequest(topics=[topic("dry", 3)], validate_only=True))
    oracle.compare(
        CreateTopicsRequest(topics=[topic("named", assigned=[[1], [1]]), topic("a.b"), topic("c.d"), topic("c_d")])
    )
    names = ["", ".", "..", "a" * 249, "a" * 250, "a/b", "ä", "a b", "__cluster_metadata", "plain", "a_b", "a.b"]
    oracle.compare(CreateTopicsRequest(topics=[topic(name) for name in names]))
    counts = [(0, 1), (-2, 1), (1, 0), (1, -2), (1, 2), (0, 0), (-5, 7)]
    oracle.compare(CreateTopicsRequest(topics=[topic(f"n{i}", p, r) for i, (p, r) in enumerate(counts)]))
    oracle.compare(CreateTopicsRequest(topics=[topic("x"), topic("y"), topic("x")]))
    oracle.compare(CreateTopicsRequest(topics=[without_a_value(), topic("bad", retention_ms="soon")]))
    assigned: list[list[list[int]]] = [[[]], [[1, 1]], [[7]], [[1], []], [[1], [1, 1]]]
    oracle.compare(CreateTopicsRequest(topics=[topic(f"a{i}", assigned=it) for i, it in enumerate(assigned)]))
    odd = [twisted("gap", 0, 2), twisted("again", 0, 0), twisted("count", 0, count=1), twisted("factor", 0, factor=1)]
    oracle.compare(CreateTopicsRequest(topics=[*odd, twisted("one", 1), twisted("minus", -1)]))
    oracle.compare(CreateTopicsRequest(topics=[topic("huge", 10_001), topic("small")]))
    oracle.compare(CreateTopicsRequest(topics=[topic("ten-thousand", 10_000), topic("small")]))
    oracle.compare(CreateTopicsRequest(topics=[]))


def test_delete_topics(oracle: Oracle) -> None:
    names = [f"d{index}" for index in range(9)]
    oracle.compare(CreateTopicsRequest(topics=[topic(name) for name in names]))
    ids = {name: oracle.image.topics.by_name[name].id for name in names}
    unknown = Uuid(b"u" * 16)
    oracle.compare(DeleteTopicsRequest(topic_names=["d0", "nobody", ""], timeout_ms=30_000), 5)
    oracle.compare(DeleteTopicsRequest(topic_names=["d1", "d1"], timeout_ms=30_000), 1)
    by = DeleteTopicState
    oracle.compare(DeleteTopicsRequest(topics=[by(name="d1"), by(topic_id=ids["d2"])], timeout_ms=30_000))
    twice = [by(name="d3"), by(name="d3"), by(topic_id=ids["d4"]), by(topic_id=ids["d4"])]
    both = [by(name="d5"), by(topic_id=ids["d5"]), by(name="d6", topic_id=ids["d6"]), by(), by(topic_id=unknown)]
    oracle.compare(DeleteTopicsRequest(topics=[*twice, *both, by(name="d7"), by(name="no")], timeout_ms=30_000))
    mixed = [
        by(name="d4"),
        by(topic_id=ids["d4"]),
        by(topic_id=ids["d4"]),
        by(name="d3"),
        by(name="d3"),
        by(topic_id=ids["d3"]),
    ]
    oracle.compare(DeleteTopicsRequest(topics=mixed, timeout_ms=30_000))
    oracle.compare(DeleteTopicsRequest(topics=[], timeout_ms=30_000))


def test_create_partitions(oracle: Oracle) -> None:
    oracle.compare(CreateTopicsRequest(topics=[topic("p"), topic("q", 3)]))

    def more(name: str, count: int, named: list[list[int]] | None = None) -> CreatePartitionsTopic:
        assignments = None if named is None else [CreatePartitionsAssignment(broker_ids=ids) for ids in named]
        return CreatePartitionsTopic(name=name, count=count, assignments=assignments)

    def ask(*topics: CreatePartitionsTopic, version: int = 3, **options: bool) -> None:
        oracle.compare(CreatePartitionsRequest(topics=list(topics), timeout_ms=30_000, **options), version)

    for version in range(4):
        ask(more("p", 2 + version), version=version)
    ask(more("p", 7, [[1], [1]]), more("q", 3), more("nobody", 2))
    ask(more("p", 9), validate_only=True)
    for bad in (more("q", 2), more("q", 0), more("q", -1), more("q", 4, []), more("q", 5, [[1]])):
        ask(bad)
    ask(more("q", 4, [[1, 1]]))
    ask(more("q", 4, [[7]]))
    ask(more("q", 4, [[]]))
    ask(more("p", 9), more("p", 10), more("q", 4))
    ask()


def test_alter_configs(oracle: Oracle) -> None:
    oracle.compare(CreateTopicsRequest(topics=[topic("c"), topic("e")]))

    def ask(
        *resources: AlterConfigsResource, messages: bool = True, validate_only: bool = False, version: int = 1
    ) -> None:
        request = IncrementalAlterConfigsRequest(resources=list(resources), validate_only=validate_only)
        oracle.compare(request, version, messages=messages)

    ask(change(2, "c", (SET, "retention.ms", "5"), (APPEND, "cleanup.policy", "compact")), version=0)
    ask(change(2, "c", (SET, "retention.ms", "5"), (SUBTRACT, "cleanup.policy", "delete")))
    ask(change(2, "c", (DELETE, "retention.ms", None), (SET, "min.insync.replicas", "1")), validate_only=True)
    ask(change(2, "c", (DELETE, "retention.ms", None), (SET, "min.insync.replicas", "1")))
    ask(change(4, "", (SET, "min.insync.replicas", "1")))
    ask(change(2, "nobody", (SET, "retention.ms", "5")), change(2, "e", (SET, "retention.ms", "6")))
    ask(change(2, "a/b", (SET, "retention.ms", "5")), change(2, "e", (APPEND, "retention.ms", "6")))
    ask(change(2, "e", (SET, "retention.ms", "7")), change(2, "e", (SET, "retention.ms", "8")))
    ask(change(77, "e", (SET, "retention.ms", "7")), change(2, "e", (SET, "retention.ms", "soon")))
    ask(change(4, "1", (SET, "min.insync.replicas", "2")))
    ask(change(4, "", (DELETE, "min.insync.replicas", None)))
    ask(change(2, "e", (SET, "nonsense", "8")))
    ask(change(4, "1", (SET, "num.io.threads", "7"), (APPEND, "log.cleanup.policy", "compact")))
    ask(change(4, "1", (DELETE, "num.io.threads", None)), change(4, "", (SET, "log.retention.ms", "7")))
    ask(change(4, "7", (SET, "num.io.threads", "7")), change(4, "one", (SET, "num.io.threads", "7")))
    ask(change(4, "1", (SET, "log.dirs", "7")), change(4, "", (SET, "log.cleaner.threads", "700")), messages=False)
    ask(change(32, "g", (SET, "consumer.session.timeout.ms", "50000")), change(32, "", (SET, "x", "1")))
    ask(change(16, "m", (SET, "interval.ms", "500")), change(16, "n", (SET, "interval.ms", "5")))
    ask(change(2, "", (SET, "retention.ms", "5")), change(2, "e", (SET, "retention.ms", None)))
    ask(change(2, "c", (SET, "retention.ms", "5"), (SET, "retention.ms", "6")))
    ask()

    def replaced(name: str, **configs: str) -> legacy.AlterConfigsResource:
        rows = [legacy.AlterableConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()]
        return legacy.AlterConfigsResource(resource_type=2, resource_name=name, configs=rows)

    for version in range(3):
        changed = replaced("c", segment_bytes=str(2_000_000 + version))
        oracle.compare(legacy.AlterConfigsRequest(resources=[changed, replaced("nobody")]), version)
    oracle.compare(legacy.AlterConfigsRequest(resources=[replaced("c")], validate_only=True))
    # Kafka 4.3 does not answer an AlterConfigs with the same resource twice, so that is not asked.


def test_elect_leaders(oracle: Oracle) -> None:
    oracle.compare(CreateTopicsRequest(topics=[topic("l", 2)]))
    asked = [TopicPartitions(topic="l", partitions=[0, 1, 9]), TopicPartitions(topic="nobody", partitions=[0])]
    for version in range(3):
        oracle.compare(ElectLeadersRequest(topic_partitions=asked), version)
    for kind in (0, 1, 7):
        oracle.compare(ElectLeadersRequest(election_type=kind, topic_partitions=asked))
    oracle.compare(ElectLeadersRequest(topic_partitions=None))
    oracle.compare(ElectLeadersRequest(election_type=1, topic_partitions=[]))


def test_reassignments(oracle: Oracle) -> None:
    oracle.compare(CreateTopicsRequest(topics=[topic("r", 2)]))
    wishes: list[list[int] | None] = [[1], None, [], [1, 1], [7], [1, 7]]
    for replicas in wishes:
        parts = [ReassignablePartition(partition_index=index, replicas=replicas) for index in (0, 9)]
        asked = [ReassignableTopic(name=name, partitions=parts) for name in ("r", "nobody")]
        for fixed in (True, False):
            oracle.compare(AlterPartitionReassignmentsRequest(topics=asked, allow_replication_factor_change=not fixed))
        oracle.compare(AlterPartitionReassignmentsRequest(topics=asked), 0)
    named = [ListPartitionReassignmentsTopics(name=name, partition_indexes=[0, 9]) for name in ("r", "nobody")]
    for topics in (None, [], named):
        request = ListPartitionReassignmentsRequest(topics=topics)
        theirs = oracle.send(request, 0)
        assert comparable(list_partition_reassignments(oracle.image, request)) == comparable(theirs)


def test_update_features(oracle: Oracle) -> None:
    up, safely, unsafely = 1, 2, 3

    def ask(*updates: tuple[str, int, int], version: int = 2, validate_only: bool = False) -> None:
        keys = [FeatureUpdateKey(feature=name, max_version_level=to, upgrade_type=kind) for name, to, kind in updates]
        request = UpdateFeaturesRequest(feature_updates=keys, validate_only=validate_only)
        oracle.compare(request, version)

    ask((GROUP_VERSION, 0, safely), validate_only=True)
    ask((GROUP_VERSION, 0, safely), version=1)
    ask((GROUP_VERSION, 1, up), (TRANSACTION_VERSION, 1, safely))
    ask((TRANSACTION_VERSION, 2, up), version=0)
    ask((ELR_VERSION, 0, safely))
    ask((ELR_VERSION, 1, up))
    ask((ELR_VERSION, 1, up))
    for name, to, kind in (
        (GROUP_VERSION, 0, up),
        (GROUP_VERSION, 0, 9),
        (GROUP_VERSION, -1, safely),
        (GROUP_VERSION, 2, up),
        (TRANSACTION_VERSION, 9, safely),
        ("nonsense", 1, up),
        ("nonsense", 0, up),
        (METADATA_VERSION, 29, safely),
        (METADATA_VERSION, 29, unsafely),
        (METADATA_VERSION, 29, up),
        (METADATA_VERSION, 30, up),
        (METADATA_VERSION, 31, up),
        (METADATA_VERSION, 0, safely),
    ):
        ask((name, to, kind))
    ask((GROUP_VERSION, 0, safely), ("nonsense", 1, up))
    ask()


def test_client_quotas(oracle: Oracle) -> None:
    def ask(*entries: AlterClientQuotasRequestEntryData, validate_only: bool = False, messages: bool = True) -> None:
        request = AlterClientQuotasRequest(entries=list(entries), validate_only=validate_only)
        for version in (0, 1):
            oracle.compare(request, version, messages=messages)

    rate = ("consumer_byte_rate", 10.0)
    ask(entry({"user": "a"}, rate, ("request_percentage", 1.5)), entry({"user": None}, rate), validate_only=True)
    ask(entry({"user": "a"}, rate, ("request_percentage", 1.5)), entry({"user": None}, rate))
    ask(entry({"user": "a"}, ("request_percentage", None), ("producer_byte_rate", None)))
    ask(entry({"ip": "127.0.0.1"}, ("connection_creation_rate", 3.0)), entry({"ip": None}, rate))
    ask(entry({"user": "b"}, rate), entry({"user": "b"}, ("consumer_byte_rate", 11.0)))
    ask(entry({"user": "c"}, rate, rate))
    ask(
        entry({}, rate), entry({"group": "g"}, rate), entry({"user": ""}, rate), entry({"user": "a"}, ("nonsense", 1.0))
    )
    for value in (0.0, -1.0, 1.5, 1e300):
        ask(entry({"user": "a"}, ("consumer_byte_rate", value)))
    ask(entry({"ip": "1.2.3.4"}, ("connection_creation_rate", 2.0**31)), entry({"ip": "not/an/address"}, rate))
    ask(entry({"ip": "1.2.3.4", "user": "a"}, rate), messages=False)
    for components, strict in (
        ([], False),
        ([("user", 0, "a")], True),
        ([("user", 1, None)], False),
        ([("user", 2, None)], False),
        ([("ip", 2, None)], True),
        ([("nonsense", 2, None)], True),
        ([("user", 2, "a")], True),
        ([("user", 5, None)], True),
        ([("ip", 1, None), ("user", 1, None)], True),
    ):
        parts = [ComponentData(entity_type=kind, match_type=how, match=name) for kind, how, name in components]
        request = DescribeClientQuotasRequest(components=parts, strict=strict)
        theirs = oracle.send(request, 1)
        assert comparable(describe_client_quotas(oracle.image, request)) == comparable(theirs)


def test_unregister_broker(oracle: Oracle) -> None:
    oracle.compare(UnregisterBrokerRequest(broker_id=7))
