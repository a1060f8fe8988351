"""Fetch sessions: named once, changed by what changed, bounded in number."""

from itertools import count

from kafkish.partitions.fetch_session import FetchPlan, FetchSessions, Wanted
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic, PartitionData
from kafkish_protocol.types import Uuid

ID = Uuid(bytes(range(16)))
VERSION = 17


def sessions(max_sessions: int = 10) -> FetchSessions:
    numbers = count(100)
    return FetchSessions(max_sessions, eviction_ms=1000, make_id=lambda: next(numbers))


def request(
    session_id: int, epoch: int, *partitions: int, forget: tuple[int, ...] = (), offset: int = 0
) -> FetchRequest:
    asked = [FetchPartition(partition=n, fetch_offset=offset) for n in partitions]
    return FetchRequest(
        session_id=session_id,
        session_epoch=epoch,
        topics=[FetchTopic(topic_id=ID, partitions=asked)] if asked else [],
        forgotten_topics_data=[ForgottenTopic(topic_id=ID, partitions=list(forget))] if forget else [],
    )


def partitions(plan: FetchPlan) -> list[int]:
    return [wanted.partition for wanted, _ in plan.wanted]


def result(
    partition: int, high_watermark: int = 0, records: bytes = b"", error: int = 0
) -> tuple[Wanted, PartitionData]:
    data = PartitionData(
        partition_index=partition, high_watermark=high_watermark, log_start_offset=0, records=memoryview(records),
        error_code=error,
    )  # fmt: skip
    return Wanted("", ID, partition), data


def answered(plan: FetchPlan, *results: tuple[Wanted, PartitionData]) -> list[int]:
    return [wanted.partition for wanted, _ in plan.answers(results)]


def test_session_remembers_what_was_named() -> None:
    table = sessions()
    first = table.plan(request(0, 0, 0, 1, 2), VERSION, 0)
    assert (first.session_id, partitions(first)) == (100, [0, 1, 2])
    assert partitions(table.plan(request(100, 1), VERSION, 0)) == [0, 1, 2]
    assert partitions(table.plan(request(100, 2, 3, forget=(0, 2)), VERSION, 0)) == [1, 3]


def test_changed_offset_replaces_the_remembered_one() -> None:
    table = sessions()
    table.plan(request(0, 0, 0, 1), VERSION, 0)
    plan = table.plan(request(100, 1, 1, offset=77), VERSION, 0)
    assert [(wanted.partition, asked.fetch_offset) for wanted, asked in plan.wanted] == [(0, 0), (1, 77)]


def test_first_answer_has_everything_later_ones_only_news() -> None:
    table = sessions()
    first = table.plan(request(0, 0, 0, 1, 2), VERSION, 0)
    assert answered(first, result(0), result(1, 5), result(2)) == [0, 1, 2]
    second = table.plan(request(100, 1), VERSION, 0)
    assert answered(second, result(0), result(1, 6), result(2, 0, b"data")) == [1, 2]
    third = table.plan(request(100, 2), VERSION, 0)
    assert answered(third, result(0), result(1, 6), result(2)) == []


def test_partition_that_gave_records_goes_to_the_end() -> None:
    table = sessions()
    table.plan(request(0, 0, 0, 1, 2), VERSION, 0).answers([result(0), result(1), result(2)])
    table.plan(request(100, 1), VERSION, 0).answers([result(0, 0, b"data"), result(1), result(2)])
    assert partitions(table.plan(request(100, 2), VERSION, 0)) == [1, 2, 0]


def test_a_new_session_keeps_the_requests_order_but_for_what_is_unknown() -> None:
    table = sessions()
    first = table.plan(request(0, 0, 0, 1, 2), VERSION, 0)
    first.answers([result(0, error=100), result(1, 0, b"data"), result(2)])
    assert partitions(table.plan(request(100, 1), VERSION, 0)) == [1, 2, 0]


def test_error_is_news_and_so_is_its_end() -> None:
    table = sessions()
    table.plan(request(0, 0, 0), VERSION, 0).answers([result(0)])
    assert answered(table.plan(request(100, 1), VERSION, 0), result(0, error=6)) == [0]
    assert answered(table.plan(request(100, 2), VERSION, 0), result(0)) == [0]
    assert answered(table.plan(request(100, 3), VERSION, 0), result(0)) == []


def test_wrong_id_epoch_or_kind_is_an_error() -> None:
    table = sessions()
    table.plan(request(0, 0, 0), VERSION, 0)
    assert table.plan(request(999, 1), VERSION, 0).error == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert table.plan(request(100, 2), VERSION, 0).error == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert table.plan(request(100, 1), 12, 0).error == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
    assert table.plan(request(100, 1), VERSION, 0).error == ErrorCode.NONE


def test_sessions_end_when_the_client_says_so_or_forgets_everything() -> None:
    table = sessions()
    table.plan(request(0, 0, 0), VERSION, 0)
    assert table.plan(request(100, -1, 0), VERSION, 0).session_id == 0
    assert len(table) == 0
    table.plan(request(0, 0, 0), VERSION, 0)
    last = table.plan(request(101, 1, 0, forget=(0,)), VERSION, 0)
    assert (last.session_id, partitions(last)) == (0, [0])
    assert len(table) == 0


def test_new_session_ends_the_one_it_names() -> None:
    table = sessions()
    table.plan(request(0, 0, 0), VERSION, 0)
    assert table.plan(request(100, 0, 5), VERSION, 0).session_id == 101
    assert len(table) == 1


def test_table_is_bounded_and_gives_away_only_idle_places() -> None:
    table = sessions(max_sessions=2)
    assert table.plan(request(0, 0, 0), VERSION, 0).session_id == 100
    assert table.plan(request(0, 0, 0), VERSION, 500).session_id == 101
    assert table.plan(request(0, 0, 0), VERSION, 900).session_id == 0
    table.plan(request(100, 1), VERSION, 950)
    assert table.plan(request(0, 0, 0), VERSION, 1501).session_id == 102  # 101 was idle for more than 1000 ms
    assert table.plan(request(101, 1), VERSION, 1501).error == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert table.plan(request(100, 2), VERSION, 1501).error == ErrorCode.NONE


def test_epoch_wraps_to_one() -> None:
    table = sessions()
    session = table.plan(request(0, 0, 0), VERSION, 0).session
    assert session is not None
    session.epoch = 2**31 - 1
    assert table.plan(request(100, 2**31 - 1), VERSION, 0).error == ErrorCode.NONE
    assert session.epoch == 1
