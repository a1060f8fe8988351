"""The same answers and the same records as Apache Kafka."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
from apache_kafka import ApacheKafka

from kafkish.tests.coordinators.groups.oracle.scripts import SCRIPTS, Script
from kafkish.tests.coordinators.groups.oracle.sides import MAX_MEMBERS, MIN_SESSION_TIMEOUT_MS, KafkaSide, OurSide
from kafkish_protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafkish_protocol.messages.find_coordinator import FindCoordinatorRequest
from kafkish_protocol.tests.raw_client import RawClient
from kafkish_protocol.types import Uuid

pytestmark = pytest.mark.kafka


SETTINGS = {
    "offsets_topic_num_partitions": "1",
    "group_max_size": str(MAX_MEMBERS),
    "group_min_session_timeout_ms": str(MIN_SESSION_TIMEOUT_MS),
}


class Oracle(NamedTuple):
    port: int
    topic_id: Uuid  # of the topic "t"


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    directory = tmp_path_factory.mktemp("kafka")
    with ApacheKafka(directory, **SETTINGS) as kafka, RawClient(kafka.port) as client:
        topics = [
            CreatableTopic(name=n, num_partitions=8, replication_factor=1, assignments=[], configs=[]) for n in "tu"
        ]
        created = client.send(CreateTopicsRequest(topics=topics, timeout_ms=10_000, validate_only=False), 7)
        await_coordinator(client)
        yield Oracle(kafka.port, created.topics[0].topic_id)


@pytest.fixture(scope="module")
def compared() -> Counter[str]:
    """How many things were, in all scripts."""
    return Counter()


def await_coordinator(client: RawClient) -> None:
    """Its topic is made when somebody asks for it."""
    find = FindCoordinatorRequest(key_type=0, coordinator_keys=["g"])
    while client.send(find, 4).coordinators[0].error_code:
        pass
    side = KafkaSide("warm-up", Uuid(bytes(16)), client.socket.getpeername()[1])
    side.await_state("warm-up", "Dead")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_answers_and_records_equal_those_of_apache_kafka(
    oracle: Oracle, script: Script, compared: Counter[str], show: Callable[[str], None]
) -> None:
    prefix = f"{script.__name__}/"
    theirs, ours = KafkaSide(prefix, oracle.topic_id, oracle.port), OurSide(prefix, oracle.topic_id)
    script(theirs)
    script(ours)
    assert ours.transcript == theirs.transcript
    assert ours.written() == theirs.written()
    compared.update(answers=len(ours.transcript), records=len(ours.written()))
    if script is SCRIPTS[-1]:
        show(f"groups: {compared['answers']} answers and {compared['records']} records as Apache Kafka's")
