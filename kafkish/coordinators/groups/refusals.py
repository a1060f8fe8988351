"""What a request is told when it cannot be carried out as a whole: not here, not now, not stored.

Each API and version has its own place for an error. Also for whoever drives a shard that is loading or has moved.
"""

from collections.abc import Callable
from typing import Any, Final

from kafkish.coordinators.groups.settings import GroupSettings
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from kafkish_protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from kafkish_protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafkish_protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from kafkish_protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from kafkish_protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from kafkish_protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafkish_protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from kafkish_protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from kafkish_protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from kafkish_protocol.schema import Request, Response


def refuse(request: Request, version: int, error: ErrorCode) -> Response:
    """The response to any request of the group coordinator that carries this error."""
    return _REFUSALS[type(request)](request, version, error)


def fault_of(request: Request, version: int, settings: GroupSettings) -> ErrorCode:
    """What is wrong with a request whatever groups there are, and wherever its own is."""
    if isinstance(request, SyncGroupRequest) and version >= _SYNC_PROTOCOL_VERSION:
        names = request.protocol_type, request.protocol_name
        if None in names:
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if isinstance(request, _ABOUT_ONE) and not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    if isinstance(request, JoinGroupRequest) and not (
        settings.min_session_timeout_ms <= request.session_timeout_ms <= settings.max_session_timeout_ms
    ):
        return ErrorCode.INVALID_SESSION_TIMEOUT
    return ErrorCode.NONE


def refuse_anywhere(settings: GroupSettings, request: Request, version: int, error: ErrorCode) -> Response:
    """What a request is told where its group is not led. Its own fault comes first."""
    fault = fault_of(request, version, settings)
    if fault and isinstance(request, JoinGroupRequest):
        return refuse_join(version, fault, request.member_id)
    return refuse(request, version, fault or error)


def refuse_join(version: int, error: ErrorCode, member_id: str) -> JoinGroupResponse:
    """From version 7 on no protocol is null; before, it is empty."""
    return JoinGroupResponse(error_code=error, member_id=member_id, protocol_name=None if version >= 7 else "")


def _heartbeat(_: HeartbeatRequest, __: int, error: ErrorCode) -> HeartbeatResponse:
    """A heartbeat is no reason to trouble a member while its coordinator loads."""
    is_loading = error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    return HeartbeatResponse(error_code=ErrorCode.NONE if is_loading else error)


def _describe_groups(request: DescribeGroupsRequest, _: int, error: ErrorCode) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(groups=[DescribedGroup(group_id=name, error_code=error) for name in request.groups])


def _delete_groups(request: DeleteGroupsRequest, _: int, error: ErrorCode) -> DeleteGroupsResponse:
    names = dict.fromkeys(request.groups_names)
    return DeleteGroupsResponse(results=[DeletableGroupResult(group_id=name, error_code=error) for name in names])


def _offset_commit(request: OffsetCommitRequest, _: int, error: ErrorCode) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(partition_index=asked.partition_index, error_code=error)
                    for asked in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _offset_fetch(request: OffsetFetchRequest, version: int, error: ErrorCode) -> OffsetFetchResponse:
    """Of the group from version 2 on; before, the error stands on every partition."""
    if error is ErrorCode.COORDINATOR_NOT_AVAILABLE:
        error = ErrorCode.NOT_COORDINATOR  # as Kafka has it here: clients look for the coordinator again
    if version >= 8:
        groups = [OffsetFetchResponseGroup(group_id=group.group_id, error_code=error) for group in request.groups]
        return OffsetFetchResponse(groups=groups)
    if version >= 2:
        return OffsetFetchResponse(error_code=error)
    return OffsetFetchResponse(topics=[_offset_fetch_topic(topic, error) for topic in request.topics or []])


def _offset_fetch_topic(topic: OffsetFetchRequestTopic, error: ErrorCode) -> OffsetFetchResponseTopic:
    partitions = [
        OffsetFetchResponsePartition(partition_index=index, committed_offset=-1, metadata="", error_code=error)
        for index in topic.partition_indexes
    ]
    return OffsetFetchResponseTopic(name=topic.name, partitions=partitions)


_SYNC_PROTOCOL_VERSION: Final = 5
_ABOUT_ONE: Final = (JoinGroupRequest, SyncGroupRequest, HeartbeatRequest, LeaveGroupRequest, OffsetDeleteRequest)
"""Offsets, in contrast, may be committed for a group without a name."""
_REFUSALS: Final[dict[type[Request], Callable[[Any, int, ErrorCode], Response]]] = {
    JoinGroupRequest: lambda _, version, error: refuse_join(version, error, member_id=""),
    SyncGroupRequest: lambda _, __, error: SyncGroupResponse(error_code=error),
    HeartbeatRequest: _heartbeat,
    LeaveGroupRequest: lambda _, __, error: LeaveGroupResponse(error_code=error),
    ListGroupsRequest: lambda _, __, error: ListGroupsResponse(error_code=error),
    DescribeGroupsRequest: _describe_groups,
    DeleteGroupsRequest: _delete_groups,
    OffsetCommitRequest: _offset_commit,
    OffsetFetchRequest: _offset_fetch,
    OffsetDeleteRequest: lambda _, __, error: OffsetDeleteResponse(error_code=error),
}
