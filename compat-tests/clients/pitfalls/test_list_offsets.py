"""ListOffsets: the first record at or after a time, whatever order the times are in, and the special times."""

import random
from collections.abc import Callable

import batches
import control
import pytest
from kafka.protocol.consumer import ListOffsetsRequest
from waiting import now_ms
from wire import Wire

NOON_MS = 1_700_000_000_000
NOTHING = (0, -1, -1, -1)
HOUR_MS = 3_600_000


def found(wire: Wire, topic: str, timestamp_ms: int, version: int = 9) -> tuple[int, int, int]:
    """Error, timestamp and offset."""
    answer = control.list_offset(wire, topic, timestamp_ms, version=version)
    return answer.error_code, answer.timestamp, answer.offset


def scattered(dice: random.Random, count: int) -> list[int]:
    """Times that run forwards and back, ten milliseconds apart at least, so that five lie between any two."""
    return [NOON_MS + 10 * dice.randrange(100) for _ in range(count)]


def expect_first_at_or_after(wire: Wire, topic: str, times: list[int], first_offset: int = 0) -> None:
    """Compare with the definition, for times before, between and after all records."""
    for asked in range(NOON_MS - 5, NOON_MS + 1005, 30):
        at_or_after = [
            (0, time, offset) for offset, time in enumerate(times) if time >= asked and offset >= first_offset
        ]
        assert found(wire, topic, asked) == (at_or_after[0] if at_or_after else (0, -1, -1)), asked - NOON_MS


@pytest.mark.parametrize("seed", range(5))
def test_time_search_finds_the_record_not_its_batch(wire: Wire, topic: str, seed: int) -> None:
    dice = random.Random(seed)
    times: list[int] = []
    for codec in ("none", "lz4", "gzip", "none"):
        chunk = scattered(dice, dice.randrange(1, 8))
        control.produce(wire, topic, batches.build([batches.Record(timestamp_ms=t) for t in chunk], codec=codec))
        times += chunk
    expect_first_at_or_after(wire, topic, times)
    control.delete_records(wire, topic, 5)
    expect_first_at_or_after(wire, topic, times, first_offset=5)


def test_time_search_crosses_segments(wire: Wire, make_topic: Callable[..., str]) -> None:
    topic = make_topic(configs={"segment.bytes": str(1 << 20)})
    dice = random.Random(7)
    times: list[int] = []
    for _ in range(6):  # each batch fills more than half a segment
        chunk = scattered(dice, 3)
        records = [batches.Record(b"x" * 200_000, timestamp_ms=time) for time in chunk]
        control.produce(wire, topic, batches.build(records))
        times += chunk
    expect_first_at_or_after(wire, topic, times)


def test_time_search_beyond_the_last_record_finds_nothing(wire: Wire, topic: str) -> None:
    control.produce(wire, topic, batches.values(b"value"))
    answer = control.list_offset(wire, topic, NOON_MS + HOUR_MS)
    assert (answer.error_code, answer.offset, answer.timestamp, answer.leader_epoch) == NOTHING


def test_time_search_uses_the_time_of_append(wire: Wire, make_topic: Callable[..., str]) -> None:
    topic = make_topic(configs={"message.timestamp.type": "LogAppendTime"})
    before_ms = now_ms()
    control.produce(wire, topic, batches.values(b"0", b"1"))
    error, timestamp_ms, offset = found(wire, topic, NOON_MS + HOUR_MS)
    assert (error, offset) == (0, 0)
    assert before_ms <= timestamp_ms <= now_ms()
    assert found(wire, topic, timestamp_ms + HOUR_MS) == (0, -1, -1)


def test_special_times(wire: Wire, topic: str) -> None:
    times = [NOON_MS, NOON_MS + 50, NOON_MS + 20, NOON_MS + 50, NOON_MS]
    control.produce(wire, topic, batches.build([batches.Record(timestamp_ms=time) for time in times]))
    control.delete_records(wire, topic, 1)
    assert found(wire, topic, -1, 11) == (0, -1, 5), "latest"
    assert found(wire, topic, -2, 11) == (0, -1, 1), "earliest"
    assert found(wire, topic, -3, 11) == (0, NOON_MS + 50, 1), "of the largest timestamp"
    assert found(wire, topic, -4, 11) == (0, -1, 1), "earliest on the broker's own disk"
    assert found(wire, topic, -5, 11) == (0, -1, -1), "latest in tiered storage, which is none"
    assert found(wire, topic, -6, 11) == (0, -1, -1), "earliest that waits to be tiered: none does"


@pytest.mark.parametrize(("special", "first_version"), [(-3, 7), (-4, 8), (-5, 9), (-6, 11)])
def test_special_time_before_its_version_is_refused(wire: Wire, topic: str, special: int, first_version: int) -> None:
    control.produce(wire, topic, batches.values(b"value"))
    assert found(wire, topic, special, first_version)[0] == 0
    assert found(wire, topic, special, first_version - 1) == (35, -1, -1)


def test_special_times_of_an_empty_log(wire: Wire, topic: str) -> None:
    answers = {special: found(wire, topic, special, 11) for special in (-1, -2, -3, -4, -5)}
    assert answers == {-1: (0, -1, 0), -2: (0, -1, 0), -3: (0, -1, -1), -4: (0, -1, 0), -5: (0, -1, -1)}


@pytest.mark.parametrize("isolation", [control.READ_UNCOMMITTED, control.READ_COMMITTED])
def test_without_transactions_both_isolations_find_the_same(wire: Wire, topic: str, isolation: int) -> None:
    control.produce(wire, topic, batches.values(b"0", b"1"))
    ends = [control.list_offset(wire, topic, special, isolation=isolation).offset for special in (-1, -2, NOON_MS)]
    assert ends == [2, 0, 0]
    assert control.fetch(wire, topic, 0, isolation=isolation).last_stable_offset == 2


def test_partition_asked_twice_is_refused_and_others_are_answered(wire: Wire, make_topic: Callable[..., str]) -> None:
    topic = make_topic(2)
    entry = ListOffsetsRequest.ListOffsetsTopic
    parts = [entry.ListOffsetsPartition(partition_index=number, timestamp=-1) for number in (0, 1, 0)]
    request = ListOffsetsRequest(replica_id=-1, topics=[entry(name=topic, partitions=parts)], timeout_ms=20_000)
    answers = wire.send(request, 9).topics
    told = {(part.partition_index, part.error_code) for topic in answers for part in topic.partitions}
    assert told == {(0, 42), (1, 0)}
