"""Which shard a group belongs to; and requests about several groups, cut into one for each shard and put together."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, Final

from kafkish.coordinators.groups.java_strings import java_hash
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from kafkish_protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from kafkish_protocol.messages.list_groups import ListGroupsResponse
from kafkish_protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from kafkish_protocol.schema import Request, Response

_SMALLEST_INT: Final = -(2**31)  # its absolute value does not fit; Kafka takes 0 for it

_SEVERAL_OFFSETS_VERSION: Final = 8  # of OffsetFetch

# Where requests have their groups, and responses what they say of each.
_ASKED: Final[dict[type[Request], str]] = {
    DescribeGroupsRequest: "groups",
    DeleteGroupsRequest: "groups_names",
    OffsetFetchRequest: "groups",
}
_ANSWERS: Final[dict[type[Request], tuple[type[Response], str]]] = {
    DescribeGroupsRequest: (DescribeGroupsResponse, "groups"),
    DeleteGroupsRequest: (DeleteGroupsResponse, "results"),
    OffsetFetchRequest: (OffsetFetchResponse, "groups"),
}


def partition_for_group(group_id: str, partitions: int) -> int:
    """The partition of `__consumer_offsets` that holds the group."""
    hashed = java_hash(group_id)
    return 0 if hashed == _SMALLEST_INT else abs(hashed) % partitions


def is_about_several(request: Request, version: int) -> bool:
    """Whether a request may name groups of several shards."""
    return type(request) in _ASKED and (type(request) is not OffsetFetchRequest or version >= _SEVERAL_OFFSETS_VERSION)


def split(request: Request, partition_of: Callable[[str], int]) -> dict[int, Request]:
    """One request for each partition that holds some of the groups that this one asks about."""
    field = _ASKED[type(request)]
    parts: dict[int, list[Any]] = {}
    for asked in getattr(request, field):
        parts.setdefault(partition_of(_group_id(asked)), []).append(asked)
    return {partition: _with(request, field, part) for partition, part in parts.items()}


def merge(request: Request, responses: Iterable[Response]) -> Response:
    """What the shards said, in the order of the request; a group that it names twice is answered as often."""
    response_class, field = _ANSWERS[type(request)]
    answers: defaultdict[str, deque[Any]] = defaultdict(deque)
    for response in responses:
        for answer in getattr(response, field):
            answers[answer.group_id].append(answer)
    asked = map(_group_id, getattr(request, _ASKED[type(request)]))
    return response_class(**{field: [answers[group_id].popleft() for group_id in asked if answers[group_id]]})


def merge_lists(responses: Sequence[ListGroupsResponse]) -> ListGroupsResponse:
    """The groups of all shards, or the first error of one."""
    error = next((response.error_code for response in responses if response.error_code), ErrorCode.NONE)
    groups = [group for response in responses for group in response.groups]
    return ListGroupsResponse(error_code=error, groups=[] if error else groups)


def _group_id(asked: Any) -> str:
    group_id: str = asked if isinstance(asked, str) else asked.group_id
    return group_id


def _with(request: Request, field: str, value: Any) -> Request:
    changed = copy(request)
    setattr(changed, field, value)
    return changed
