"""Which shard a group belongs to, and requests that concern several."""

import pytest

from kafkish.coordinators.groups.java_strings import java_hash, utf16_length
from kafkish.coordinators.groups.routing import merge, merge_lists, partition_for_group, split
from kafkish.tests.coordinators.groups.requests import delete, describe, fetch
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsResponse
from kafkish_protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from kafkish_protocol.messages.list_groups import ListedGroup, ListGroupsResponse
from kafkish_protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
)


@pytest.mark.parametrize(
    ("text", "hashed"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("é", 233),
        ("\N{GRINNING FACE}", 0xD83D * 31 + 0xDE00),
        ("polygenelubricants", -(2**31)),
    ],
)
def test_java_hash(text: str, hashed: int) -> None:
    assert java_hash(text) == hashed


def test_utf16_length() -> None:
    assert [utf16_length(text) for text in ("", "abc", "é", "\N{GRINNING FACE}")] == [0, 3, 1, 2]


def test_partition_is_never_negative_even_for_the_smallest_hash() -> None:
    assert partition_for_group("polygenelubricants", 50) == 0
    assert partition_for_group("hello", 50) == 99162322 % 50
    assert {partition_for_group(f"group-{i}", 50) for i in range(2_000)} == set(range(50))


def by_length(group_id: str) -> int:
    return len(group_id)


def test_describe_is_split_by_shard_and_answered_in_order() -> None:
    request = describe("aa", "b", "cc", "d", "aa")
    parts = split(request, by_length)
    assert {partition: part.groups for partition, part in parts.items()} == {2: ["aa", "cc", "aa"], 1: ["b", "d"]}  # type: ignore[attr-defined]
    answers = [
        DescribeGroupsResponse(groups=[DescribedGroup(group_id=name) for name in part.groups])
        for part in parts.values()
        if isinstance(part, DescribeGroupsRequest)
    ]
    merged = merge(request, answers)
    assert isinstance(merged, DescribeGroupsResponse)
    assert [group.group_id for group in merged.groups] == ["aa", "b", "cc", "d", "aa"]


def test_offset_fetch_keeps_what_holds_for_all_groups() -> None:
    request = OffsetFetchRequest(groups=[*fetch("aa", None).groups, *fetch("b", None).groups], require_stable=True)
    parts = split(request, by_length)
    assert all(isinstance(part, OffsetFetchRequest) and part.require_stable for part in parts.values())
    answers = [OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id=name)]) for name in ("b", "aa")]
    merged = merge(request, answers)
    assert isinstance(merged, OffsetFetchResponse)
    assert [group.group_id for group in merged.groups] == ["aa", "b"]


def test_delete_answers_each_group_once() -> None:
    request = delete("aa", "b", "aa")
    answers = [
        DeleteGroupsResponse(results=[DeletableGroupResult(group_id=name, error_code=ErrorCode.NONE)])
        for name in ("b", "aa")
    ]
    merged = merge(request, answers)
    assert isinstance(merged, DeleteGroupsResponse)
    assert [result.group_id for result in merged.results] == ["aa", "b"]


def test_lists_are_joined_and_an_error_of_one_is_the_error_of_all() -> None:
    one, two = (ListGroupsResponse(groups=[ListedGroup(group_id=name)]) for name in "ab")
    assert [group.group_id for group in merge_lists([one, two]).groups] == ["a", "b"]
    loading = ListGroupsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    assert merge_lists([one, loading]) == loading
