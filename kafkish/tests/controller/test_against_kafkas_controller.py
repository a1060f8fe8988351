"""Brokers that exist only in requests: a real Kafka controller and our operations hear the same, and decide alike."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import apache_kafka
import pytest

from kafkish.controller.list_partition_reassignments import list_partition_reassignments
from kafkish.tests.controller.cluster import FEATURES, directory
from kafkish.tests.controller.oracle import Oracle, comparable
from kafkish.tests.controller.walk import Walk
from kafkish.tests.metadata.kafka_log import wait_for
from kafkish_protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from kafkish_protocol.messages.alter_partition import AlterPartitionRequest, AlterPartitionRequestTopicData
from kafkish_protocol.messages.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kafkish_protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from kafkish_protocol.messages.broker_registration import BrokerRegistrationRequest, Feature, Listener
from kafkish_protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from kafkish_protocol.messages.unregister_broker import UnregisterBrokerRequest
from kafkish_protocol.types import ZERO_UUID, Uuid

pytestmark = pytest.mark.kafka

STEPS = 400
CLUSTER_ID = "kafkish-oracle-cluster"


class Controller(apache_kafka.ApacheKafka):
    """A node that is a controller and no broker."""

    def __init__(self, directory: Path, **settings: str) -> None:
        port = apache_kafka.free_port()
        super().__init__(
            directory,
            process_roles="controller",
            listeners=f"CONTROLLER://127.0.0.1:{port}",
            controller_quorum_voters=f"1@127.0.0.1:{port}",
            **settings,
        )
        self.port = port


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    where = tmp_path_factory.mktemp("controller")
    with Controller(where, broker_session_timeout_ms="3600000") as kafka:
        wait_for(where / "data" / "__cluster_metadata-0", lambda image: 1 in image.controllers)
        yield Oracle(kafka.port, where)


def tell(oracle: Oracle, request: BrokerHeartbeatRequest) -> None:
    """A heartbeat, and what a controller remembers of it."""
    before = oracle.image.brokers
    answer = oracle.compare(request)
    if answer.error_code:
        return
    oracle.sessions.heard(request, answer, end_offset=1, now_ms=0)
    old, new = before[request.broker_id], oracle.image.brokers[request.broker_id]
    if old != new:  # then Kafka forgets how far the broker is, until it says so again
        oracle.sessions.touch(new.id, new.epoch, 0).metadata_offset = -1


def step(oracle: Oracle, walk: Walk) -> None:
    request = walk.next_request(oracle.image)
    if isinstance(request, BrokerHeartbeatRequest):
        return tell(oracle, request)
    answer = oracle.compare(request, messages=False)
    if isinstance(request, BrokerRegistrationRequest) and answer.error_code == 0:
        oracle.sessions.forget(request.broker_id)
    if isinstance(request, AlterPartitionReassignmentsRequest):
        everything = ListPartitionReassignmentsRequest(topics=None)
        ours = list_partition_reassignments(oracle.image, everything)
        assert comparable(ours) == comparable(oracle.send(everything, 0))
    return None


def test_a_random_walk(oracle: Oracle, show: Callable[[str], None]) -> None:
    walk, begin = Walk(966, CLUSTER_ID), oracle.image.provenance.offset
    for number in range(STEPS):
        step(oracle, walk)
        assert not oracle.differences, f"step {number}: " + "\n".join(oracle.differences)
    count, changes = oracle.assert_nothing_differs(), oracle.image.provenance.offset - begin
    show(f"random walk: {count} requests to Kafka's controller and ours, {changes} records, none different")


NEWCOMER = BrokerRegistrationRequest(
    broker_id=20,
    cluster_id=CLUSTER_ID,
    incarnation_id=Uuid(b"a" * 16),
    listeners=[Listener(name="PLAINTEXT", host="localhost", port=9020)],
    features=FEATURES,
    rack="r",
    log_dirs=[directory(200), directory(201)],
)


def without(*names: str) -> list[Feature]:
    return [feature for feature in FEATURES if feature.name not in names]


def test_registrations_that_are_refused(oracle: Oracle) -> None:
    oracle.compare(NEWCOMER)
    low, odd = Feature(name="metadata.version", max_supported_version=7), Feature(name="odd", min_supported_version=1)
    other = replace(NEWCOMER, broker_id=21, incarnation_id=Uuid(b"b" * 16), log_dirs=[directory(210)])
    for refused in (
        replace(other, cluster_id="another"),
        replace(other, log_dirs=[]),
        replace(other, log_dirs=[ZERO_UUID]),
        replace(other, log_dirs=[directory(210), directory(210)]),
        replace(other, log_dirs=[directory(201)]),
        replace(other, features=[]),
        replace(other, features=[*without("metadata.version"), low]),
        replace(other, features=without("metadata.version")),
        replace(other, features=[*without("metadata.version"), odd]),
        replace(other, features=without("transaction.version")),
        replace(other, features=[*FEATURES, odd]),
        replace(other, is_migrating_zk_broker=True),
    ):
        answer = oracle.compare(refused)
        assert answer.error_code != 0, refused
    oracle.assert_nothing_differs()


def test_an_incarnation_amends_what_it_said_and_another_has_to_wait(oracle: Oracle) -> None:
    epoch = oracle.compare(NEWCOMER).broker_epoch
    assert oracle.compare(replace(NEWCOMER, rack="s")).broker_epoch == epoch
    tell(oracle, BrokerHeartbeatRequest(broker_id=20, broker_epoch=epoch, current_metadata_offset=2**40))
    oracle.compare(replace(NEWCOMER, log_dirs=[directory(200)], listeners=[]))
    assert oracle.compare(replace(NEWCOMER, incarnation_id=Uuid(b"c" * 16))).error_code != 0
    for version in range(5):
        oracle.compare(NEWCOMER if version >= 2 else replace(NEWCOMER, log_dirs=[]), version)
    oracle.assert_nothing_differs()


def test_brokers_that_are_not_who_they_say(oracle: Oracle) -> None:
    epoch = oracle.compare(NEWCOMER).broker_epoch
    for id, said in ((20, epoch + 1), (20, epoch - 1), (20, -1), (99, epoch)):
        tell(oracle, BrokerHeartbeatRequest(broker_id=id, broker_epoch=said))
        oracle.compare(AllocateProducerIdsRequest(broker_id=id, broker_epoch=said))
        asked = AlterPartitionRequestTopicData(topic_id=Uuid(b"t" * 16))
        oracle.compare(AlterPartitionRequest(broker_id=id, broker_epoch=said, topics=[asked]))
    for _ in range(2):
        oracle.compare(AllocateProducerIdsRequest(broker_id=20, broker_epoch=epoch))
    oracle.assert_nothing_differs()


def test_a_broker_that_is_gone_for_good(oracle: Oracle) -> None:
    oracle.compare(NEWCOMER)
    for _ in range(2):
        oracle.compare(UnregisterBrokerRequest(broker_id=20))
    oracle.sessions.forget(20)
    oracle.assert_nothing_differs()
