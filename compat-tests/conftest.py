"""The broker that the tests run against, and fresh names in it. See README.md for the kinds of broker."""

import contextlib
import logging
import re
from collections.abc import Callable, Iterator
from typing import Final
from uuid import uuid4

import brokers
import control
import pytest
from brokers import Broker
from jvm import Jvm
from wire import Wire

# Clients log much that is expected of them: retries, rebalances, brokers that went away.
for _library in ("kafka", "aiokafka", "py4j"):
    logging.getLogger(_library).setLevel(logging.CRITICAL)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test runs once for each `--broker`."""
    if "broker" in metafunc.fixturenames:
        metafunc.parametrize("broker", metafunc.config.option.broker, indirect=True, scope="session")


@pytest.fixture(scope="session")
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker that all tests share. It has been used before: take fresh names of topics and groups."""
    try:
        with brokers.running(request.param, tmp_path_factory.mktemp("broker")) as running:
            yield running
    except brokers.NoEngineError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def broker_with(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Broker]]:
    """Starts brokers of the same kind with other settings; underscores in a name stand for dots."""
    with contextlib.ExitStack() as started:

        def start(**settings: str) -> Broker:
            dotted = {name.replace("_", "."): value for name, value in settings.items()}
            directory = tmp_path_factory.mktemp("other-broker")
            try:
                return started.enter_context(brokers.running(broker.kind, directory, dotted))
            except brokers.NoEngineError as error:
                pytest.skip(str(error))

        yield start


@pytest.fixture(autouse=True)
def _only_if_owned(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("owned") and not request.getfixturevalue("broker").owned:
        pytest.skip("the broker is not ours to stop, nor its files to read")


END_TXN: Final = 26


@pytest.fixture(autouse=True)
def _only_with_transactions(request: pytest.FixtureRequest) -> None:
    """A broker that does not advertise transactions is not asked for them."""
    if request.node.get_closest_marker("transactions"):
        with Wire(request.getfixturevalue("broker").address) as connected:
            if END_TXN not in connected.api_versions():
                pytest.skip("the broker does not serve transactions")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A failure shows the last lines of the broker's log."""
    report: pytest.TestReport = yield  # type: ignore[misc]  # a wrapper is sent the result
    broker = getattr(item, "funcargs", {}).get("broker")
    if report.failed and broker is not None:
        report.sections.append(("broker's log", broker.log_tail()))
    return report  # type: ignore[return-value]


@pytest.fixture(scope="session")
def jvm() -> Iterator[Jvm]:
    """Kafka's Java clients and tools."""
    running = Jvm()
    yield running
    running.close()


@pytest.fixture
def wire(broker: Broker) -> Iterator[Wire]:
    """A connection for single requests."""
    with Wire(broker.address) as connected:
        yield connected


@pytest.fixture
def fresh(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Makes names that nothing else has: of groups, transactions, and topics that are not to exist yet."""
    test = re.sub(r"[^A-Za-z0-9]+", "-", request.node.name.removeprefix("test_"))[:80].strip("-")
    return lambda kind: f"{kind}-{test}-{uuid4().hex[:8]}"


@pytest.fixture
def group(fresh: Callable[[str], str]) -> str:
    return fresh("group")


@pytest.fixture
def make_topic(broker: Broker, fresh: Callable[[str], str]) -> Iterator[Callable[..., str]]:
    """Creates topics that are ready for use. They go if the broker is not ours."""
    made: list[str] = []

    def make(partitions: int = 1, configs: dict[str, str] | None = None) -> str:
        made.append(fresh("topic"))
        with Wire(broker.address) as wire:
            control.create_topic(wire, made[-1], partitions, configs)
        return made[-1]

    yield make
    if not broker.owned:
        with Wire(broker.address) as wire:
            for name in made:
                control.delete_topic(wire, name)


@pytest.fixture
def topic(make_topic: Callable[..., str]) -> str:
    """A topic with one partition."""
    return make_topic()
