"""A broker that is killed under load keeps what it acknowledged."""

import os
import random
import time
from collections.abc import Callable

import batches
import control
import pytest
import raw_group
from brokers import Broker
from faults.load import Reader, Writer
from waiting import until
from wire import Wire

pytestmark = pytest.mark.owned

PARTITIONS = 3
GIGABYTE = 1 << 30


def stored(wire: Wire, topic: str, partition: int) -> dict[int, bytes]:
    """Every value of a partition, by offset."""
    found: dict[int, bytes] = {}
    offset, end = 0, control.end_offset(wire, topic, partition)
    while offset < end:
        for batch in batches.read(control.fetch(wire, topic, offset, partition).records):
            found |= {record.offset: record.value for record in batch}
            offset = batch.last_offset + 1
    return found


def expect_commits_kept(broker: Broker, group: str, topic: str, before: dict[int, int], reader: Reader) -> None:
    """What was acknowledged before the kill is there, and nothing that the group never tried to commit."""
    with Wire(broker.address) as wire:
        control.wait_for_group(wire, group)
        kept = raw_group.committed(wire, group)
    for partition, offset in before.items():
        assert offset <= kept[topic, partition][0] <= reader.tried[partition]


def wait_for_progress(writer: Writer, reader: Reader) -> None:
    acked, committed = len(writer.acked), dict(reader.committed)
    until(lambda: len(writer.acked) >= acked + 200, "200 more records acknowledged")
    until(lambda: reader.committed != committed, "one more commit acknowledged")


@pytest.mark.timeout(600)
def test_acknowledged_records_and_commits_survive_kills_under_load(
    broker: Broker, make_topic: Callable[..., str], group: str, show: Callable[[str], None]
) -> None:
    kills = 20 if broker.kind == "kafkish" else 3
    dice = random.Random(20)
    topic = make_topic(PARTITIONS, {"flush.messages": "1"})
    writer, reader = Writer(broker.address, topic, PARTITIONS), Reader(broker.address, topic, group)
    restarts_ms = []
    for _ in range(kills):
        wait_for_progress(writer, reader)
        time.sleep(dice.uniform(0, 0.2))  # any moment of the load
        before = dict(reader.committed)
        broker.kill()
        started = time.monotonic()
        broker.start()
        restarts_ms.append(round((time.monotonic() - started) * 1000))
        expect_commits_kept(broker, group, topic, before, reader)
    writer.finish()
    assert writer.failed == []
    show(f"{kills} kills under load: {len(writer.acked):,} records acknowledged; restarts {restarts_ms} ms")
    with Wire(broker.address) as wire:
        log = {partition: stored(wire, topic, partition) for partition in range(PARTITIONS)}
    lost = {place: value for place, value in writer.acked.items() if log[place[0]].get(place[1]) != value}
    assert lost == {}
    for partition, values in log.items():
        numbers = [int(values[offset]) for offset in sorted(values)]
        assert numbers == list(range(partition, partition + PARTITIONS * len(numbers), PARTITIONS)), "none twice"
    until(lambda: all(reader.seen[partition] >= set(log[partition]) for partition in log), "the group reads all")
    reader.finish()


def test_group_goes_on_at_its_committed_offsets_after_a_kill(
    broker: Broker, make_topic: Callable[..., str], group: str
) -> None:
    topic = make_topic(PARTITIONS)
    with Wire(broker.address) as wire:
        for partition in range(PARTITIONS):
            control.produce(wire, topic, batches.values(*(b"%d" % n for n in range(10))), partition)
            control.expect(raw_group.commit(wire, group, topic, partition, 3 + partition), "commit")
    broker.kill()
    broker.start()
    with Wire(broker.address) as wire:
        control.wait_for_partitions(wire, topic, PARTITIONS)
    reader = Reader(broker.address, topic, group)
    until(lambda: len(reader.first) == PARTITIONS, "records of every partition")
    reader.finish()
    assert reader.first == {0: 3, 1: 4, 2: 5}


@pytest.mark.timeout(600)
def test_start_after_a_kill_with_a_gigabyte_of_log(
    broker: Broker, make_topic: Callable[..., str], show: Callable[[str], None]
) -> None:
    topic = make_topic(4, {"segment.bytes": str(100 << 20)})
    batch = batches.values(os.urandom(1_000_000))
    count = GIGABYTE // len(batch) + 1
    with Wire(broker.address) as wire:
        for number in range(count):
            control.produce(wire, topic, batch, number % 4, acks=1)
        ends = [control.end_offset(wire, topic, partition) for partition in range(4)]
    broker.kill()
    started = time.monotonic()
    broker.start()
    show(f"start to ready after a kill with {count * len(batch) >> 20} MB of log: {time.monotonic() - started:.2f} s")
    with Wire(broker.address) as wire:
        control.wait_for_partitions(wire, topic, 4)
        assert [control.end_offset(wire, topic, partition) for partition in range(4)] == ends
        assert bytes(control.fetch(wire, topic, ends[3] - 1, 3).records or b"")[-1000:] == batch[-1000:]
        control.delete_topic(wire, topic)
