"""Compaction: offsets never change, and readers reach the end."""

from collections.abc import Callable

import batches
import control
import pytest
from batches import Producer, Record
from clients.families.base import Family
from waiting import now_ms, until
from wire import Wire

# A segment closes at the first append after a tenth of a second; then it may be cleaned at once.
EAGER = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.0",
    "segment.ms": "100",
    "delete.retention.ms": "0",
}


@pytest.fixture
def compacted(wire: Wire, make_topic: Callable[..., str]) -> str:
    """Offsets 0 to 5 are superseded or deleted by 6 and 7, 8 and up only close segments."""
    topic = make_topic(configs=EAGER)
    for number in range(6):
        control.produce(wire, topic, keyed(b"a" if number % 2 else b"b", b"%d" % number))
    control.produce(wire, topic, keyed(b"a", b"last"))
    control.produce(wire, topic, keyed(b"b", None))
    until(lambda: closing_one_more_segment(wire, topic) and first_data_offset(wire, topic) >= 6, "compaction")
    return topic


def keyed(key: bytes, value: bytes | None) -> bytearray:
    return batches.build([Record(value, key, timestamp_ms=now_ms())])


def closing_one_more_segment(wire: Wire, topic: str) -> bool:
    control.produce(wire, topic, keyed(b"filler", b"filler"))
    return True


def records(wire: Wire, topic: str) -> list[tuple[int, bytes, bytes | None]]:
    """Offset, key and value of all that is left."""
    found: list[tuple[int, bytes, bytes | None]] = []
    offset = 0
    end = control.end_offset(wire, topic)
    while offset < end:
        for batch in batches.read(control.fetch(wire, topic, offset).records):
            found += [(record.offset, record.key, record.value) for record in batch]
            offset = batch.last_offset + 1
    return found


def first_data_offset(wire: Wire, topic: str) -> int:
    return records(wire, topic)[0][0]


def test_last_value_of_each_key_stays_at_its_offset(wire: Wire, compacted: str) -> None:
    left = records(wire, compacted)
    assert (6, b"a", b"last") in left
    assert control.start_offset(wire, compacted) == 0


def test_tombstone_goes_in_the_end(wire: Wire, compacted: str) -> None:
    def gone() -> bool:
        closing_one_more_segment(wire, compacted)
        return b"b" not in [key for _, key, _ in records(wire, compacted)]

    until(gone, "no trace of the deleted key")


def test_every_client_reads_a_compacted_topic_to_its_end(wire: Wire, family: Family, compacted: str) -> None:
    end = control.end_offset(wire, compacted)
    with family.consumer() as consumer:
        consumer.assign([(compacted, 0)])
        consumer.seek((compacted, 0), 0)

        def at_the_end() -> bool:
            consumer.poll()
            return consumer.position((compacted, 0)) >= end

        until(at_the_end, f"position {end}")


def test_producer_whose_records_are_gone_may_go_on(wire: Wire, make_topic: Callable[..., str]) -> None:
    topic = make_topic(configs=EAGER)
    given = control.init_producer(wire)
    producer = Producer(given.producer_id, given.producer_epoch)
    for sequence in range(3):
        record = Record(b"%d" % sequence, b"a", timestamp_ms=now_ms())
        control.produce(wire, topic, batches.build([record], producer=producer, sequence=sequence))
    control.produce(wire, topic, keyed(b"a", b"of another"))
    until(lambda: closing_one_more_segment(wire, topic) and first_data_offset(wire, topic) >= 3, "compaction")
    retried = batches.build([Record(b"2", b"a")], producer=producer, sequence=2)
    assert control.produce(wire, topic, retried) == 2
    following = batches.build([Record(b"3", b"a")], producer=producer, sequence=3)
    assert control.produce(wire, topic, following) == control.end_offset(wire, topic) - 1
