"""Topics that are created by asking: not if the broker's settings forbid it, and as its settings have them."""

from collections.abc import Callable, Iterator
from types import ModuleType

import batches
import control
import pytest
from brokers import Broker
from clients.families import aio_kafka, confluent, kafka_python
from clients.families.base import ClientError, Family, Record
from waiting import until
from wire import Wire

UNKNOWN_TOPIC, TOO_LARGE = 3, 10


@pytest.fixture(scope="module")
def forbidding(broker_with: Callable[..., Broker]) -> Broker:
    return broker_with(auto_create_topics_enable="false")


@pytest.fixture
def strict(forbidding: Broker) -> Iterator[Wire]:
    """A connection to a broker that creates no topics by itself."""
    with Wire(forbidding.address) as connected:
        yield connected


@pytest.mark.parametrize("version", [0, 3, 4, 12])
def test_nothing_is_created_where_the_broker_forbids_it(
    strict: Wire, fresh: Callable[[str], str], version: int
) -> None:
    topic = fresh("topic")
    for _ in range(3):
        assert control.metadata(strict, topic, create=True, version=version).error_code == UNKNOWN_TOPIC
    control.create_topic(strict, fresh("later"))  # whatever was on its way before is done now
    assert control.metadata(strict, topic).error_code == UNKNOWN_TOPIC


IMPATIENT = {
    confluent: {"message.timeout.ms": 2000},
    kafka_python: {"max.block.ms": 2000},
    aio_kafka: {"request.timeout.ms": 2000, "metadata.max.age.ms": 500},
}


@pytest.mark.parametrize("library", list(IMPATIENT), ids=lambda each: each.Family.name)
def test_clients_are_told_that_there_is_no_such_topic(
    forbidding: Broker, fresh: Callable[[str], str], library: ModuleType
) -> None:
    family: Family = library.Family(forbidding.address)
    with pytest.raises(ClientError):
        family.produce(fresh("topic"), [Record(b"value")], IMPATIENT[library])
    family.close()


def test_topics_of_the_brokers_own_are_created_all_the_same(strict: Wire, group: str) -> None:
    control.wait_for_group(strict, group)
    assert control.metadata(strict, "__consumer_offsets").error_code == 0


def test_topic_that_is_created_by_asking_is_as_the_settings_have_it(
    broker_with: Callable[..., Broker], fresh: Callable[[str], str]
) -> None:
    topic = fresh("topic")
    with Wire(broker_with(num_partitions="3", log_retention_hours="5", message_max_bytes="2000").address) as wire:
        control.metadata(wire, topic, create=True)
        until(lambda: control.metadata(wire, topic).error_code == 0, "the topic")
        control.wait_for_partitions(wire, topic, 3)
        assert len(control.metadata(wire, topic).partitions) == 3
        assert control.topic_config(wire, topic, "retention.ms").value == str(5 * 3_600_000)
        assert control.produce_response(wire, topic, batches.values(b"x" * 3000)).error_code == TOO_LARGE
        control.produce(wire, topic, batches.values(b"x" * 1000), 2)
