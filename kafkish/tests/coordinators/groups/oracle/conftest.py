"""An Apache Kafka for all tests of this folder."""

from collections.abc import Iterator

import pytest
from apache_kafka import ApacheKafka

from kafkish.tests.coordinators.groups.oracle.sides import MAX_MEMBERS, MIN_SESSION_TIMEOUT_MS, KafkaSide, Oracle
from kafkish_protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafkish_protocol.messages.find_coordinator import FindCoordinatorRequest
from kafkish_protocol.tests.raw_client import RawClient
from kafkish_protocol.types import Uuid

SETTINGS = {
    "offsets_topic_num_partitions": "1",
    "transaction_state_log_num_partitions": "1",
    "group_max_size": str(MAX_MEMBERS),
    "group_min_session_timeout_ms": str(MIN_SESSION_TIMEOUT_MS),
}


@pytest.fixture(scope="session")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    directory = tmp_path_factory.mktemp("kafka")
    with ApacheKafka(directory, **SETTINGS) as kafka, RawClient(kafka.port) as client:
        topics = [
            CreatableTopic(name=n, num_partitions=8, replication_factor=1, assignments=[], configs=[]) for n in "tu"
        ]
        created = client.send(CreateTopicsRequest(topics=topics, timeout_ms=10_000, validate_only=False), 7)
        await_coordinator(client)
        yield Oracle(kafka.port, created.topics[0].topic_id)


def await_coordinator(client: RawClient) -> None:
    """Its topic is made when somebody asks for it."""
    find = FindCoordinatorRequest(key_type=0, coordinator_keys=["g"])
    while client.send(find, 4).coordinators[0].error_code:
        pass
    side = KafkaSide("warm-up", Uuid(bytes(16)), client.socket.getpeername()[1])
    side.await_state("warm-up", "Dead")
