"""Every test that takes `family` runs with every family of clients that can do what the test needs."""

from collections.abc import Iterator

import pytest
from brokers import Broker
from clients.families import aio_kafka, confluent, java, kafka_python
from clients.families.base import Family

FAMILIES: dict[str, type[Family]] = {
    module.Family.name: module.Family for module in (kafka_python, aio_kafka, confluent, java)
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`@pytest.mark.needs("delete_group")` leaves out the families that lack it."""
    if "family" not in metafunc.fixturenames:
        return
    needed = {word for mark in metafunc.definition.iter_markers("needs") for word in mark.args}
    able = [name for name, family in FAMILIES.items() if not needed & family.lacks]
    if "assignor" in metafunc.fixturenames:
        pairs = [(name, assignor) for name in able for assignor in FAMILIES[name].assignors]
        parameters = [pytest.param(*pair, marks=marks(pair[0]), id="-".join(pair)) for pair in pairs]
        metafunc.parametrize(("family", "assignor"), parameters, indirect=["family"])
    else:
        metafunc.parametrize("family", [pytest.param(name, marks=marks(name)) for name in able], indirect=True)


def marks(family: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.kafka] if family == "java" else []


def opened(name: str, broker: Broker, request: pytest.FixtureRequest) -> Family:
    """A family bound to the broker. Java's shares the session's JVM."""
    if name == "java":
        return java.Family(broker.address, request.getfixturevalue("jvm"))
    return FAMILIES[name](broker.address)


@pytest.fixture
def family(request: pytest.FixtureRequest, broker: Broker) -> Iterator[Family]:
    family = opened(request.param, broker, request)
    yield family
    family.close()


@pytest.fixture
def families(request: pytest.FixtureRequest, broker: Broker) -> Iterator[list[Family]]:
    """All of them, for tests in which they meet."""
    every = [opened(name, broker, request) for name in FAMILIES]
    yield every
    for family in every:
        family.close()
