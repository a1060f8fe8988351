"""Offsets: seeking, committing, and finding them by time."""

from collections.abc import Callable

import control
import pytest
from clients.families.base import FROM_START, ClientError, Family, Record

NOON_MS = 1_700_000_000_000


def fill(family: Family, topic: str, count: int) -> None:
    family.produce(topic, [Record(b"%d" % n, partition=0, timestamp_ms=NOON_MS + n * 1000) for n in range(count)])


def test_assigned_consumer_seeks_back_and_forth(family: Family, topic: str) -> None:
    fill(family, topic, 20)
    with family.consumer(FROM_START) as consumer:
        consumer.assign([(topic, 0)])
        for offset in (15, 3, 0, 19):
            consumer.seek((topic, 0), offset)
            assert consumer.take(1)[0].offset == offset


def test_position_follows_what_was_read(family: Family, topic: str) -> None:
    fill(family, topic, 5)
    with family.consumer(FROM_START) as consumer:
        consumer.assign([(topic, 0)])
        consumer.take(5)
        assert consumer.position((topic, 0)) == 5


def test_start_and_end_of_a_partition(family: Family, make_topic: Callable[..., str]) -> None:
    topic = make_topic(2)
    fill(family, topic, 7)
    with family.admin() as admin:
        admin.delete_records((topic, 0), 3)
    with family.consumer() as consumer:
        consumer.assign([(topic, 0), (topic, 1)])
        assert (consumer.start_offset((topic, 0)), consumer.end_offset((topic, 0))) == (3, 7)
        assert (consumer.start_offset((topic, 1)), consumer.end_offset((topic, 1))) == (0, 0)


def test_first_offset_at_or_after_a_time(family: Family, make_topic: Callable[..., str]) -> None:
    topic = make_topic(2)
    fill(family, topic, 10)
    with family.consumer() as consumer:
        consumer.assign([(topic, 0), (topic, 1)])

        def offset_at(time_ms: int) -> int | None:
            return consumer.offsets_for_times({(topic, 0): time_ms})[topic, 0]

        assert offset_at(0) == 0
        assert offset_at(NOON_MS + 3000) == 3
        assert offset_at(NOON_MS + 3001) == 4
        assert offset_at(NOON_MS + 9000) == 9
        assert offset_at(NOON_MS + 9001) is None
        assert consumer.offsets_for_times({(topic, 0): 1, (topic, 1): 1}) == {(topic, 0): 0, (topic, 1): None}


def test_time_search_is_exact_when_times_run_backwards(family: Family, topic: str) -> None:
    times = [NOON_MS + delta for delta in (50, 10, 90, 20, 70, 90, 5)]
    for start in (0, 3):  # two batches
        chunk = times[start : start + 3] if start == 0 else times[start:]
        family.produce(topic, [Record(b"", timestamp_ms=time) for time in chunk])
    with family.consumer() as consumer:
        consumer.assign([(topic, 0)])
        for asked in (0, 5, 11, 51, 71, 90, 91):
            expected = next((n for n, time in enumerate(times) if time >= NOON_MS + asked), None)
            assert consumer.offsets_for_times({(topic, 0): NOON_MS + asked})[topic, 0] == expected


def test_committed_offset_and_its_metadata_come_back(
    family: Family, make_topic: Callable[..., str], group: str
) -> None:
    topic = make_topic(2)
    fill(family, topic, 10)
    with family.consumer({"group.id": group}) as consumer:
        consumer.assign([(topic, 0), (topic, 1)])
        assert consumer.committed((topic, 0)) is None
        consumer.commit({(topic, 0): (7, "checkpoint ☃")})
        consumer.commit({(topic, 1): (0, "")})
        assert (consumer.committed((topic, 0)), consumer.committed((topic, 1))) == (7, 0)
    with family.admin() as admin:
        assert admin.group_offsets(group) == {(topic, 0): (7, "checkpoint ☃"), (topic, 1): (0, "")}


def test_commit_may_go_back(family: Family, topic: str, group: str) -> None:
    with family.consumer({"group.id": group}) as consumer:
        consumer.assign([(topic, 0)])
        for offset in (5, 9, 2):
            consumer.commit({(topic, 0): (offset, "")})
            assert consumer.committed((topic, 0)) == offset


def test_metadata_of_a_commit_has_a_limit(family: Family, topic: str, group: str) -> None:
    with family.consumer({"group.id": group}) as consumer:
        consumer.assign([(topic, 0)])
        consumer.commit({(topic, 0): (1, "m" * 4000)})
        with pytest.raises(ClientError) as refused:
            consumer.commit({(topic, 0): (2, "m" * 4200)})
        assert refused.value.code == control.OFFSET_METADATA_TOO_LARGE
        assert consumer.committed((topic, 0)) == 1


def test_assigned_consumer_goes_on_where_its_group_committed(family: Family, topic: str, group: str) -> None:
    fill(family, topic, 10)
    with family.consumer({"group.id": group}) as consumer:
        consumer.assign([(topic, 0)])
        consumer.commit({(topic, 0): (8, "")})
    with family.consumer({"group.id": group, **FROM_START}) as consumer:
        consumer.assign([(topic, 0)])
        assert [record.offset for record in consumer.take(2)] == [8, 9]


@pytest.mark.needs("list_offset")
def test_admin_finds_offsets(family: Family, topic: str) -> None:
    times = [NOON_MS, NOON_MS + 500, NOON_MS + 100]
    family.produce(topic, [Record(b"", timestamp_ms=time) for time in times])
    with family.admin() as admin:
        assert admin.list_offset((topic, 0), control.EARLIEST)[0] == 0
        assert admin.list_offset((topic, 0), control.LATEST)[0] == 3
        assert admin.list_offset((topic, 0), control.MAX_TIMESTAMP) == (1, NOON_MS + 500)
        assert admin.list_offset((topic, 0), NOON_MS + 50) == (1, NOON_MS + 500)
        assert admin.list_offset((topic, 0), NOON_MS + 501) == (-1, -1)
