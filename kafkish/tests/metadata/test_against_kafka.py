"""A real Kafka's metadata log and snapshots give an image that says what that Kafka says."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import apache_kafka
import pytest

from kafkish.metadata.image import ALL_BROKERS, MetadataImage, ResourceType, ScramUser
from kafkish.metadata.versions import ELR_VERSION, METADATA_VERSION
from kafkish.tests.metadata.kafka_log import load_log, load_snapshot, snapshots, wait_for
from kafkish_protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    EntityData,
    OpData,
)
from kafkish_protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from kafkish_protocol.messages.api_versions import ApiVersionsRequest
from kafkish_protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafkish_protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kafkish_protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafkish_protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kafkish_protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkish_protocol.messages.init_producer_id import InitProducerIdRequest
from kafkish_protocol.messages.metadata import MetadataRequest
from kafkish_protocol.tests.raw_client import RawClient

pytestmark = pytest.mark.kafka

SETTINGS = {
    "metadata_log_max_record_bytes_between_snapshots": "1000",
    "authorizer_class_name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow_everyone_if_no_acl_found": "true",
    "super_users": "User:ANONYMOUS",
}


@dataclass
class Running:
    client: RawClient
    log: Path

    def image(self) -> MetadataImage:
        return wait_for(self.log, lambda image: 1 in image.brokers and not image.brokers[1].fenced)


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Kafka with something of everything in its metadata."""
    directory = tmp_path_factory.mktemp("kafka")
    with apache_kafka.ApacheKafka(directory, **SETTINGS) as broker, RawClient(broker.port) as client:
        running = Running(client, directory / "data" / "__cluster_metadata-0")
        running.image()
        fill(client)
        yield running


def fill(client: RawClient) -> None:
    configs = [CreatableTopicConfig(name="retention.ms", value="1000")]
    topics = [
        CreatableTopic(name=name, num_partitions=count, replication_factor=1, configs=configs)
        for name, count in (("one", 1), ("three", 3), ("gone", 2))
    ]
    assert all(t.error_code == 0 for t in client.send(CreateTopicsRequest(topics=topics), 7).topics)
    client.send(DeleteTopicsRequest(topics=[DeleteTopicState(name="gone")], timeout_ms=30_000), 6)
    changes = [
        AlterConfigsResource(resource_type=kind, resource_name=name, configs=[AlterableConfig(name=key, value=value)])
        for kind, name, key, value in (
            (2, "three", "cleanup.policy", "compact"),
            (4, "", "log.cleaner.threads", "1"),
            (4, "1", "num.io.threads", "7"),
            (32, "group", "consumer.session.timeout.ms", "50000"),
        )
    ]
    client.send(IncrementalAlterConfigsRequest(resources=changes), 1)
    user, client_id = (EntityData(entity_type=kind, entity_name=None) for kind in ("user", "client-id"))
    quota = OpData(key="consumer_byte_rate", value=1024.0)
    entries = [AlterClientQuotasRequestEntryData(entity=[user, client_id], ops=[quota])]
    client.send(AlterClientQuotasRequest(entries=entries), 1)
    scram = ScramCredentialUpsertion(
        name="alice", mechanism=1, iterations=4096, salt=b"salt", salted_password=b"x" * 32
    )
    client.send(AlterUserScramCredentialsRequest(upsertions=[scram]), 0)
    rule = AclCreation(
        resource_type=2, resource_name="one", resource_pattern_type=3, principal="User:bob", host="*", operation=3
    )
    rule.permission_type = 3
    client.send(CreateAclsRequest(creations=[rule]), 3)
    client.send(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000), 5)


def test_topics_are_those_of_metadata(kafka: Running) -> None:
    image = kafka.image()
    answer = kafka.client.send(MetadataRequest(topics=None), 13)
    assert {t.name: t.topic_id for t in answer.topics} == {t.name: t.id for t in image.topics.by_id.values()}
    for told in answer.topics:
        partitions = image.topics.by_name[told.name].partitions
        assert len(told.partitions) == len(partitions)
        for it in told.partitions:
            ours = partitions[it.partition_index]
            assert (it.leader_id, it.leader_epoch) == (ours.leader, ours.leader_epoch)
            assert (it.replica_nodes, it.isr_nodes) == (list(ours.replicas), list(ours.isr))
            assert ours.directories == image.brokers[1].directories
    assert sorted(image.topics.by_name) == ["one", "three"]


def test_brokers_are_those_of_metadata(kafka: Running) -> None:
    image, answer = kafka.image(), kafka.client.send(MetadataRequest(topics=[]), 13)
    (listener,) = image.brokers[1].listeners
    assert [(b.node_id, b.host, b.port, b.rack) for b in answer.brokers] == [(1, listener.host, listener.port, None)]
    assert image.brokers[1].active
    assert image.controllers[1].features == image.brokers[1].features


def test_features_are_those_of_api_versions(kafka: Running) -> None:
    answer = kafka.client.send(ApiVersionsRequest(client_software_name="test", client_software_version="1"), 4)
    told = {feature.name: feature.max_version_level for feature in answer.finalized_features}
    features = kafka.image().features
    assert {**features.levels, METADATA_VERSION: features.metadata_version} == told
    assert features.metadata_version == 30
    assert features.level(ELR_VERSION) == 1


def test_configs_are_those_of_describe_configs(kafka: Running) -> None:
    image = kafka.image()
    wanted = [DescribeConfigsResource(resource_type=r.type, resource_name=r.name) for r in image.configs]
    for resource in wanted:
        resource.configuration_keys = None
    answer = kafka.client.send(DescribeConfigsRequest(resources=wanted), 4)
    dynamic = {1, 2, 3, 7, 8}  # topic, broker, all brokers, client metrics, group: not static, not default
    own = {2: {1}, 4: {2, 3}, 32: {8}}
    for result in answer.results:
        told = {c.name: c.value for c in result.configs if c.config_source in dynamic & own[result.resource_type]}
        if (result.resource_type, result.resource_name) != (4, "1"):  # a broker shows all brokers' configs as well
            assert image.config(result.resource_type, result.resource_name) == told
    assert image.config(ResourceType.TOPIC, "three") == {"retention.ms": "1000", "cleanup.policy": "compact"}
    assert image.config(ResourceType.BROKER, "1") == {"num.io.threads": "7"}
    assert image.configs[ALL_BROKERS] == {"min.insync.replicas": "1", "log.cleaner.threads": "1"}


def test_quotas_credentials_rules_and_producer_ids_are_there(kafka: Running) -> None:
    image = wait_for(kafka.log, lambda image: image.next_producer_id > 0)
    assert image.client_quotas == {(("client-id", None), ("user", None)): {"consumer_byte_rate": 1024.0}}
    assert image.scram[ScramUser(1, "alice")].iterations == 4096
    assert [acl.principal for acl in image.acls.values()] == ["User:bob"]
    assert image.next_producer_id == 1000


def test_kafkas_snapshot_is_the_log_up_to_its_end(kafka: Running, show: Callable[[str], None]) -> None:
    deadline = time.monotonic() + 30
    while not (found := snapshots(kafka.log)) and time.monotonic() < deadline:
        time.sleep(0.05)
    by_snapshot = load_snapshot(found[0])
    by_log = load_log(kafka.log, up_to=by_snapshot.provenance.offset)
    assert by_snapshot.features == by_log.features
    assert by_snapshot.brokers == by_log.brokers
    assert by_snapshot.topics == by_log.topics
    assert by_snapshot.configs == by_log.configs
    show(f"Kafka's metadata log and {len(found)} snapshots read; the image says what Kafka says")
