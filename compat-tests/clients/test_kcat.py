"""kcat, the command-line client on librdkafka: every mode that its users know."""

import json
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import batches
import control
import pytest
from brokers import Broker
from clients.kcat import Balanced, Kcat
from waiting import until
from wire import Wire

pytestmark = pytest.mark.kcat

NOON_MS = 1_700_000_000_000


@pytest.fixture
def kcat(broker: Broker) -> Kcat:
    return Kcat(broker.address)


@pytest.fixture
def timed(wire: Wire, topic: str) -> str:
    """A topic of ten records, a second apart from noon on."""
    records = [batches.Record(b"%d" % n, timestamp_ms=NOON_MS + n * 1000) for n in range(10)]
    control.produce(wire, topic, batches.build(records[:4]))
    control.produce(wire, topic, batches.build(records[4:]))
    return topic


# -- one command at a time


def test_list_shows_brokers_topics_and_partitions(kcat: Kcat, broker: Broker, make_topic: Callable[..., str]) -> None:
    topic = make_topic(3)
    listed = json.loads(kcat.run("-L", "-J").stdout)
    assert [node["name"] for node in listed["brokers"]] == [broker.address]
    (found,) = [entry for entry in listed["topics"] if entry["topic"] == topic]
    node = listed["brokers"][0]["id"]
    assert [(part["partition"], part["leader"], part["isrs"]) for part in found["partitions"]] == [
        (number, node, [{"id": node}]) for number in range(3)
    ]
    assert f'topic "{topic}" with 3 partitions' in kcat.run("-L", "-t", topic).stdout


def test_keys_headers_and_nulls_come_back(kcat: Kcat, topic: str) -> None:
    kcat.run(
        "-P", "-t", topic, "-K:", "-Z", "-H", "a=1", "-H", "b=2", "-H", "a=3", stdin="key:value\ngone:\n:keyless\n"
    )
    read = kcat.read(topic)
    assert [(record["key"], record["payload"]) for record in read] == [
        ("key", "value"),
        ("gone", None),
        (None, "keyless"),
    ]
    assert read[0]["headers"] == ["a", "1", "b", "2", "a", "3"]
    assert {record["tstype"] for record in read} == {"create"}


@pytest.mark.parametrize("codec", list(batches.CODECS))
def test_codec_is_stored_and_read(kcat: Kcat, topic: str, codec: str, wire: Wire) -> None:
    lines = [f"{number} {'the same words ' * 50}" for number in range(100)]
    kcat.run("-P", "-t", topic, "-z", codec, "-X", "linger.ms=50", stdin="\n".join(lines))
    stored = {batch.compression_type for batch in batches.read(control.fetch(wire, topic, 0).records)}
    assert stored == {batches.CODECS[codec]}
    assert kcat.values(topic) == lines


def test_partition_may_be_chosen(kcat: Kcat, make_topic: Callable[..., str]) -> None:
    topic = make_topic(2)
    kcat.run("-P", "-t", topic, "-p", "1", stdin="one\n")
    assert [(record["partition"], record["offset"]) for record in kcat.read(topic)] == [(1, 0)]
    assert kcat.values(topic, "-p", "0") == []


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (["-o", "beginning"], range(10)),
        (["-o", "end"], range(0)),
        (["-o", "7"], range(7, 10)),
        (["-o", "-3"], range(7, 10)),
        (["-o", "2", "-c", "3"], range(2, 5)),
        (["-o", f"s@{NOON_MS + 2500}"], range(3, 10)),
        (["-o", f"s@{NOON_MS + 2000}", "-o", f"e@{NOON_MS + 6000}"], range(2, 6)),
        (["-o", f"s@{NOON_MS + 99_000}"], range(0)),
    ],
)
def test_reading_starts_and_ends_where_it_should(kcat: Kcat, timed: str, where: list[str], expected: range) -> None:
    assert kcat.values(timed, *where) == [str(number) for number in expected]


def test_query_finds_offsets_by_time(kcat: Kcat, timed: str) -> None:
    def offset_at(time_ms: int) -> int:
        printed = kcat.run("-Q", "-t", f"{timed}:0:{time_ms}").stdout
        found = re.search(r"offset (-?\d+)", printed)
        assert found, printed
        return int(found[1])

    assert [offset_at(time) for time in (0, NOON_MS + 1, NOON_MS + 9000)] == [0, 1, 9]
    assert (offset_at(-1), offset_at(-2)) == (10, 0)
    assert offset_at(NOON_MS + 9001) == -1


def test_end_is_told(kcat: Kcat, timed: str) -> None:
    assert f"Reached end of topic {timed} [0] at offset 10" in kcat.run("-C", "-t", timed, "-e").stderr


def test_format_shows_every_field(kcat: Kcat, timed: str) -> None:
    printed = kcat.run("-C", "-t", timed, "-c1", "-f", "%t %p %o %T %k %K %s %S\n").stdout
    assert printed == f"{timed} 0 0 {NOON_MS} key 3 0 1\n"


def test_producing_creates_the_topic(kcat: Kcat, fresh: Callable[[str], str], wire: Wire) -> None:
    topic = fresh("topic")
    kcat.run("-P", "-t", topic, stdin="first\n")
    assert kcat.values(topic) == ["first"]
    control.delete_topic(wire, topic)


def test_large_file_is_one_message(kcat: Kcat, topic: str, tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_text("0123456789" * 90_000)
    kcat.run("-P", "-t", topic, str(file))
    small = ["-X", "fetch.message.max.bytes=1000", "-X", "message.max.bytes=1000"]
    assert kcat.values(topic, *small) == [file.read_text()]


def test_message_above_the_topics_limit_is_refused(kcat: Kcat, make_topic: Callable[..., str]) -> None:
    topic = make_topic(configs={"max.message.bytes": "2000"})
    run = kcat.run("-P", "-t", topic, stdin="x" * 3000 + "\n", check=False)
    assert "Message size too large" in run.stderr


def test_idempotent_producer(kcat: Kcat, topic: str) -> None:
    lines = [str(number) for number in range(5000)]
    kcat.run("-P", "-t", topic, "-X", "enable.idempotence=true", "-X", "batch.size=2000", stdin="\n".join(lines))
    assert kcat.values(topic) == lines


@pytest.mark.transactions
def test_transaction_is_committed_at_the_end_of_input(kcat: Kcat, topic: str, fresh: Callable[[str], str]) -> None:
    kcat.run("-P", "-t", topic, "-X", f"transactional.id={fresh('transaction')}", stdin="a\nb\n")
    assert kcat.values(topic, "-X", "isolation.level=read_committed") == ["a", "b"]


# -- members of groups


@pytest.fixture
def balanced(kcat: Kcat, group: str) -> Iterator[Callable[..., Balanced]]:
    """Starts members of one group, and ends them with the test."""
    started: list[Balanced] = []

    def start(topic: str, *settings: str) -> Balanced:
        started.append(Balanced(kcat, group, topic, *settings))
        return started[-1]

    yield start
    for member in started:
        member.end(signal.SIGKILL)


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "cooperative-sticky"])
def test_group_shares_partitions_and_takes_over(
    kcat: Kcat, balanced: Callable[..., Balanced], make_topic: Callable[..., str], assignor: str
) -> None:
    topic = make_topic(2)
    setting = ["-X", f"partition.assignment.strategy={assignor}"]
    first = balanced(topic, *setting)
    until(lambda: first.assignment == {0, 1}, "the first has both")
    second = balanced(topic, *setting)
    until(lambda: len(first.assignment) == len(second.assignment) == 1, "a share each")
    for partition in ("0", "1"):
        kcat.run("-P", "-t", topic, "-p", partition, stdin=f"to {partition}\n")
    until(lambda: len(first.values) == len(second.values) == 1, "each reads its own")
    second.end(signal.SIGTERM)
    until(lambda: first.assignment == {0, 1}, "the first has both again")


def test_killed_member_is_replaced(balanced: Callable[..., Balanced], make_topic: Callable[..., str]) -> None:
    topic = make_topic(2)
    first, second = balanced(topic), balanced(topic)
    until(lambda: len(first.assignment) == len(second.assignment) == 1, "a share each")
    second.end(signal.SIGKILL)
    until(lambda: first.assignment == {0, 1}, "the first has both")


def test_static_member_returns_to_its_share(balanced: Callable[..., Balanced], make_topic: Callable[..., str]) -> None:
    topic = make_topic(2)
    first = balanced(topic, "-X", "group.instance.id=first")
    second = balanced(topic, "-X", "group.instance.id=second")
    until(lambda: len(first.assignment) == len(second.assignment) == 1, "a share each")
    share = second.assignment
    second.end(signal.SIGKILL)
    again = balanced(topic, "-X", "group.instance.id=second")
    until(lambda: again.assignment, "the second is back")
    assert again.assignment == share
    assert first.assignment == {0, 1} - share
