"""The same requests to kafkish and to Apache Kafka, in every version: the answers are the same.

What must differ is left out: addresses, ids, times, free space, words for people, and the order of what has no order.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import apache_kafka
import pytest

from kafkish.handlers import catalog  # noqa: F401  # importing handlers registers them
from kafkish.handlers.registry import REGISTRY
from kafkish.tests.coordinators.groups import requests
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages import alter_configs as legacy
from kafkish_protocol.messages import incremental_alter_configs as incremental
from kafkish_protocol.messages.api_versions import ApiVersionsRequest
from kafkish_protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kafkish_protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafkish_protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafkish_protocol.messages.describe_cluster import DescribeClusterRequest
from kafkish_protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kafkish_protocol.messages.describe_groups import DescribeGroupsRequest
from kafkish_protocol.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from kafkish_protocol.messages.describe_producers import DescribeProducersRequest
from kafkish_protocol.messages.describe_producers import TopicRequest as DescribeProducersTopic
from kafkish_protocol.messages.describe_topic_partitions import Cursor, DescribeTopicPartitionsRequest, TopicRequest
from kafkish_protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from kafkish_protocol.messages.find_coordinator import FindCoordinatorRequest
from kafkish_protocol.messages.init_producer_id import InitProducerIdRequest
from kafkish_protocol.messages.list_config_resources import ListConfigResourcesRequest
from kafkish_protocol.messages.list_groups import ListGroupsRequest
from kafkish_protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from kafkish_protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafkish_protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kafkish_protocol.messages.unregister_broker import UnregisterBrokerRequest
from kafkish_protocol.schema import Request, Struct
from kafkish_protocol.tests.raw_client import RawClient
from kafkish_protocol.types import ZERO_UUID, Uuid

pytestmark = pytest.mark.kafka

OFFSETS = "__consumer_offsets"
NO_SUCH_ID = Uuid(b"\x07" * 16)
PATIENCE_MS = 10_000
TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32


class Both(NamedTuple):
    """A connection to each."""

    kafkish: RawClient
    kafka: RawClient

    def topic_ids(self, name: str) -> list[Uuid]:
        asked = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
        return [client.send(asked, 12).topics[0].topic_id for client in self]

    def compare(self, request: Request, version: int, kafka_request: Request | None = None) -> None:
        """Send, and have the same answered."""
        ours = self.kafkish.send(request, version)
        theirs = self.kafka.send(kafka_request or request, version)
        hidden = HIDDEN | ({"error_message"} if WITHOUT_WORDS in repr(theirs) else set())
        assert comparable(ours, hidden) == comparable(theirs, hidden), f"{type(request).__name__} v{version}"

    def compare_all(self, request: Request) -> None:
        """In every version that can carry it."""
        for version in REGISTRY[ApiKey(request.schema.api_key or 0)].versions:
            self.compare(request, version)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    serve = [sys.executable, "-m", "kafkish.cli.main", "serve", "--listen", "127.0.0.1:0", "--data-dir"]
    settings = ["--set", "group.initial.rebalance.delay.ms=0", "--set", "log.retention.bytes=1000000"]
    command = [*serve, str(tmp_path_factory.mktemp("kafkish")), *settings]
    kafka = apache_kafka.ApacheKafka(tmp_path_factory.mktemp("kafka"), log_retention_bytes="1000000")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        ready = re.search(r"127\.0\.0\.1:(\d+)", line)
        assert ready, line
        with kafka, RawClient(int(ready[1])) as ours, RawClient(kafka.port) as theirs:
            yield prepared(Both(ours, theirs))
    finally:
        process.kill()
        process.wait()


def prepared(both: Both) -> Both:
    """With a topic `t` of three partitions, and a coordinator."""
    topic = CreatableTopic(name="t", num_partitions=3, replication_factor=1)
    for client in both:
        assert client.send(CreateTopicsRequest(topics=[topic]), 7).topics[0].error_code == 0
        deadline = time.monotonic() + 30
        while client.send(FindCoordinatorRequest(key="g"), 0).error_code and time.monotonic() < deadline:
            time.sleep(0.05)
        while client.send(ListGroupsRequest(), 0).error_code and time.monotonic() < deadline:
            time.sleep(0.05)
    return both


HIDDEN = {
    "host", "port", "cluster_id", "log_dir", "total_bytes", "usable_bytes", "producer_id", "documentation",
    "finalized_features_epoch", "leader_epoch", "committed_leader_epoch",
}  # fmt: skip
"""What each broker has of its own. Of an epoch it matters that there is one."""


WITHOUT_WORDS = "This most likely occurs because of a request being malformed"
"""What Kafka says where it has nothing to say."""


def comparable(value: Any, hidden: set[str], name: str = "") -> Any:
    """A response without what may differ."""
    if isinstance(value, Struct):
        fields = [field.name for field in value.schema.fields]
        return {field: comparable(getattr(value, field), hidden, field) for field in fields}
    if isinstance(value, list):
        return sorted((comparable(each, hidden) for each in value), key=repr)
    if name == "error_message" and name in hidden:
        return None
    if name in hidden:
        return value in (None, "", -1, 0)
    if name == "topic_id" and value not in (ZERO_UUID, NO_SUCH_ID):
        return "an id"
    return value


def names(*wanted: str) -> list[MetadataRequestTopic]:
    return [MetadataRequestTopic(name=name) for name in wanted]


# -- what is advertised


def test_every_api_has_kafkas_versions(both: Both) -> None:
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1.0")
    ours, theirs = (
        {api.api_key: (api.min_version, api.max_version) for api in client.send(request, 4).api_keys} for client in both
    )
    assert {key: theirs[key] for key in ours} == ours


# -- topics and brokers


def test_metadata(both: Both) -> None:
    for version in range(14):
        if version >= 4:
            unknown = names("nowhere", "bad name", "__transaction_state", "")
            both.compare(MetadataRequest(topics=unknown, allow_auto_topic_creation=False), version)
        both.compare(MetadataRequest(topics=names("t", "t", OFFSETS)), version)
        if version >= 8:
            wanted = MetadataRequest(topics=names("t"), include_topic_authorized_operations=True)
            both.compare(wanted, version)
            if version <= 10:
                both.compare(replace(wanted, include_cluster_authorized_operations=True), version)
        both.compare(MetadataRequest(topics=[] if version == 0 else None), version)
        both.compare(MetadataRequest(topics=names("bad name")), version)
    ids = [MetadataRequestTopic(name=None, topic_id=NO_SUCH_ID), MetadataRequestTopic(name="t")]
    for version in (12, 13):
        both.compare(MetadataRequest(topics=ids), version)
    for version in (10, 11):
        both.compare(MetadataRequest(topics=[MetadataRequestTopic(name="t", topic_id=NO_SUCH_ID)]), version)


def test_a_topic_that_is_not_there_is_created_and_unknown_until_then(both: Both) -> None:
    both.compare(MetadataRequest(topics=names("made")), 12)
    for client in both:
        deadline = time.monotonic() + 30
        while client.send(MetadataRequest(topics=names("made")), 12).topics[0].error_code:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    both.compare(MetadataRequest(topics=names("made")), 12)


def test_describe_cluster(both: Both) -> None:
    for version in range(3):
        both.compare(DescribeClusterRequest(include_cluster_authorized_operations=True), version)
    for kind in (0, 2, 3):
        both.compare(DescribeClusterRequest(endpoint_type=kind), 1)


def test_describe_topic_partitions(both: Both) -> None:
    for topics in ([], ["t"], ["nowhere", "t", "bad name", OFFSETS]):
        for limit in (-1, 1, 2, 49, 50, 51, 2000):
            for cursor in (None, ("t", 1), ("t", 7), (OFFSETS, 49), ("t", -1), ("zz", 0)):
                at = None if cursor is None else Cursor(topic_name=cursor[0], partition_index=cursor[1])
                asked = [TopicRequest(name=name) for name in topics]
                both.compare(DescribeTopicPartitionsRequest(topics=asked, response_partition_limit=limit, cursor=at), 0)


def test_topics_are_administered(both: Both) -> None:
    strange = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in ("t", "bad name", "u")]
    strange.append(CreatableTopic(name="v", num_partitions=1, replication_factor=7))
    for version in range(2, 8):
        both.compare(CreateTopicsRequest(topics=strange, validate_only=True), version)
    more = [CreatePartitionsTopic(name=name, count=5, assignments=None) for name in ("t", "nowhere")]
    for version in range(4):
        both.compare(CreatePartitionsRequest(topics=more, timeout_ms=PATIENCE_MS, validate_only=True), version)
    for version in range(1, 6):
        both.compare(DeleteTopicsRequest(topic_names=["nowhere"], timeout_ms=PATIENCE_MS), version)
    by_id = [DeleteTopicState(name=None, topic_id=NO_SUCH_ID), DeleteTopicState(name="nowhere")]
    both.compare(DeleteTopicsRequest(topics=by_id, timeout_ms=PATIENCE_MS), 6)
    both.compare_all(ElectLeadersRequest(topic_partitions=[TopicPartitions(topic="t", partitions=[0, 9])]))
    both.compare_all(ListPartitionReassignmentsRequest())
    both.compare_all(UnregisterBrokerRequest(broker_id=7))


# -- configs


def described(*resources: tuple[int, str, list[str] | None], **wanted: bool) -> DescribeConfigsRequest:
    rows = [
        DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
        for kind, name, keys in resources
    ]
    return DescribeConfigsRequest(resources=rows, **wanted)


def test_configs_are_described(both: Both) -> None:
    both.compare_all(described((TOPIC, "t", None), (GROUP, "g", None), (CLIENT_METRICS, "m", None)))
    both.compare_all(described((TOPIC, "t", None), include_synonyms=True))
    both.compare_all(described((TOPIC, "nowhere", None), (TOPIC, "bad name", None), (TOPIC, "", None)))
    both.compare_all(described((BROKER, "2", None), (BROKER, "x", None), (GROUP, "", None), (LOGGER, "2", None)))
    both.compare_all(described((BROKER, "1", ["log.retention.bytes", "log.cleaner.threads"]), include_synonyms=True))
    both.compare_all(described((TOPIC, "t", None), (3, "x", None)))


def test_resources_are_listed(both: Both) -> None:
    for kinds in ([BROKER], [LOGGER], [GROUP], [CLIENT_METRICS], [3], [0], [BROKER, LOGGER]):
        both.compare(ListConfigResourcesRequest(resource_types=kinds), 1)
    both.compare(ListConfigResourcesRequest(), 0)


@pytest.mark.parametrize(
    ("kind", "name", "configs"),
    [
        (TOPIC, "t", [("retention.ms", "100000")]),
        (TOPIC, "t", [("retention.ms", "soon")]),
        (TOPIC, "t", [("retention.ms", None)]),
        (TOPIC, "t", [("retention.ms", "1"), ("retention.ms", "2")]),
        (TOPIC, "nowhere", [("retention.ms", "1")]),
        (BROKER, "1", [("node.id", "1")]),
        (BROKER, "1", [("log.cleaner.threads", "many")]),
        (BROKER, "2", []),
        (BROKER, "x", []),
        (BROKER, "", [("listeners", "x")]),
        (LOGGER, "2", [("root", "INFO")]),
        (LOGGER, "1", [("root", "LOUD")]),
        (3, "x", []),
    ],
)
def test_configs_are_altered(both: Both, kind: int, name: str, configs: list[tuple[str, str | None]]) -> None:
    old = [legacy.AlterableConfig(name=key, value=value) for key, value in configs]
    asked = legacy.AlterConfigsResource(resource_type=kind, resource_name=name, configs=old)
    both.compare_all(legacy.AlterConfigsRequest(resources=[asked], validate_only=True))
    for operation in range(4):
        new = [incremental.AlterableConfig(name=key, config_operation=operation, value=value) for key, value in configs]
        resource = incremental.AlterConfigsResource(resource_type=kind, resource_name=name, configs=new)
        both.compare_all(incremental.IncrementalAlterConfigsRequest(resources=[resource], validate_only=True))


# -- coordinators, groups and producers


def test_coordinators_are_found(both: Both) -> None:
    for version in range(7):
        several = version >= 4
        request = (
            FindCoordinatorRequest(coordinator_keys=["g", "h", ""]) if several else FindCoordinatorRequest(key="g")
        )
        both.compare(request, version)
        if 0 < version < 4:
            both.compare(FindCoordinatorRequest(key="g", key_type=9), version)


def test_offsets_are_committed_and_fetched(both: Both) -> None:
    offsets = {("t", 0): 5, ("t", 9): 6, ("nowhere", 0): 7}
    for version in range(2, 10):
        both.compare(requests.commit("g", offsets, metadata="m"), version)
        both.compare(requests.commit("g", offsets, member="m", generation=3), version)
    for version in (8, 9):
        both.compare(requests.fetch("g", {"t": [0, 1, 9], "nowhere": [0]}), version)
        both.compare(requests.fetch("g", None), version)
        both.compare(requests.fetch("nobody", {"t": [0]}), version)
    both.compare(requests.fetch("g", None), 10)
    by_id = [
        OffsetFetchRequest(
            groups=[
                OffsetFetchRequestGroup(
                    group_id="g",
                    topics=[
                        OffsetFetchRequestTopics(topic_id=topic_id, partition_indexes=[0, 9])
                        for topic_id in (own_id, NO_SUCH_ID)
                    ],
                )
            ]
        )
        for own_id in both.topic_ids("t")
    ]
    both.compare(by_id[0], 10, by_id[1])
    commits = [requests.commit("g", {("", 0): 5, ("", 9): 6}, topic_id=own_id) for own_id in both.topic_ids("t")]
    both.compare(commits[0], 10, commits[1])
    both.compare(requests.commit("g", {("", 0): 5}, topic_id=NO_SUCH_ID), 10)


def test_groups_are_administered(both: Both) -> None:
    both.compare(requests.commit("h", {("t", 0): 5, ("t", 1): 6}), 9)
    for version in range(7):
        both.compare(DescribeGroupsRequest(groups=["h", "nobody", "h"]), version)
        if version >= 3:
            both.compare(DescribeGroupsRequest(groups=["h", "nobody"], include_authorized_operations=True), version)
    both.compare(requests.delete_offsets("h", {"t": [0, 9], "nowhere": [0]}), 0)
    both.compare(requests.delete_offsets("nobody", {"t": [0]}), 0)
    for version in range(6):
        both.compare(ListGroupsRequest(), version)
    both.compare(requests.delete("nobody", "h", "h"), 2)


def test_producers_get_ids_or_the_same_refusal(both: Both) -> None:
    for client in both:  # the first one waits for a block of ids
        deadline = time.monotonic() + 30
        while client.send(InitProducerIdRequest(transactional_id=None), 5).error_code and time.monotonic() < deadline:
            time.sleep(0.05)
    for version in range(6):
        both.compare(InitProducerIdRequest(transactional_id=None), version)
        both.compare(InitProducerIdRequest(transactional_id="", transaction_timeout_ms=1), version)
        both.compare(InitProducerIdRequest(transactional_id="x", transaction_timeout_ms=0), version)
        if version >= 3:
            both.compare(InitProducerIdRequest(transactional_id=None, producer_id=5), version)
            both.compare(InitProducerIdRequest(transactional_id=None, producer_id=5, producer_epoch=1), version)
    asked = [DescribeProducersTopic(name=name, partition_indexes=[0, 9]) for name in ("t", "nowhere", "bad name")]
    both.compare(DescribeProducersRequest(topics=asked), 0)


def test_log_directories(both: Both) -> None:
    asked = [DescribableLogDirTopic(topic=name, partitions=[0, 9]) for name in ("t", "nowhere")]
    both.compare_all(DescribeLogDirsRequest(topics=asked))
    both.compare_all(DescribeLogDirsRequest(topics=[]))
