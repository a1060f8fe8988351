"""Compaction: offsets never change, and readers reach the end."""

from collections.abc import Callable

import batches
import control
import pytest
from batches import Producer, Record
from clients.families.base import Family
from compaction import EAGER, close_segment, keyed, remaining, wait_for_compaction
from waiting import now_ms, until
from wire import Wire

NOON_MS = 1_700_000_000_000


@pytest.fixture
def compacted(wire: Wire, make_topic: Callable[..., str]) -> str:
    """Offsets 0 to 5 are superseded or deleted by 6 and 7; 8 and up only close segments."""
    topic = make_topic(configs=EAGER)
    for number in range(6):
        control.produce(wire, topic, keyed(b"a" if number % 2 else b"b", b"%d" % number))
    control.produce(wire, topic, keyed(b"a", b"last"))
    control.produce(wire, topic, keyed(b"b", None))
    wait_for_compaction(wire, topic, 6)
    return topic


def test_last_value_of_each_key_stays_at_its_offset(wire: Wire, compacted: str) -> None:
    left = remaining(wire, compacted)
    assert (6, b"a", b"last") in left
    assert control.start_offset(wire, compacted) == 0


def test_tombstone_stays_as_long_as_it_should(wire: Wire, make_topic: Callable[..., str]) -> None:
    topic = make_topic(configs={**EAGER, "delete.retention.ms": "86400000"})
    for value in (b"0", b"1", None):
        control.produce(wire, topic, keyed(b"b", value))
    wait_for_compaction(wire, topic, 2)
    for _ in range(3):
        close_segment(wire, topic)
    assert remaining(wire, topic)[0] == (2, b"b", None)


def test_time_search_finds_what_compaction_left(wire: Wire, make_topic: Callable[..., str]) -> None:
    topic = make_topic(configs={**EAGER, "message.timestamp.before.max.ms": str(2**62)})
    for number, key in enumerate((b"a", b"b", b"a", b"c", b"b")):
        record = Record(b"%d" % number, key, timestamp_ms=NOON_MS + 10 * number)
        control.produce(wire, topic, batches.build([record]))
    wait_for_compaction(wire, topic, 2)
    assert [offset for offset, _, _ in remaining(wire, topic)][:3] == [2, 3, 4]
    for asked, offset in ((NOON_MS, 2), (NOON_MS + 15, 2), (NOON_MS + 21, 3), (NOON_MS + 40, 4)):
        answer = control.list_offset(wire, topic, asked)
        assert (answer.error_code, answer.offset, answer.timestamp) == (0, offset, NOON_MS + 10 * offset)


def test_tombstone_goes_in_the_end(wire: Wire, compacted: str) -> None:
    def gone() -> bool:
        close_segment(wire, compacted)
        return b"b" not in [key for _, key, _ in remaining(wire, compacted)]

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
    wait_for_compaction(wire, topic, 3)
    retried = batches.build([Record(b"2", b"a")], producer=producer, sequence=2)
    assert control.produce(wire, topic, retried) == 2
    following = batches.build([Record(b"3", b"a")], producer=producer, sequence=3)
    assert control.produce(wire, topic, following) == control.end_offset(wire, topic) - 1
