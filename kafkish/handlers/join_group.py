"""JoinGroup (11): enter a group of the classic protocol. The answer comes when its members have gathered."""

from typing import Final

from kafkish.deferred import Deferred
from kafkish.handlers.groups import ask_coordinator, refuse_group
from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse

_NULLABLE_NAME_VERSION: Final = 7


@handles(ApiKey.JOIN_GROUP, refuse_group)
def join_group(request: JoinGroupRequest, context: RequestContext) -> Deferred[JoinGroupResponse]:
    """The coordinator answers."""
    answer = ask_coordinator(request, context, JoinGroupResponse)
    return answer if context.api_version < _NULLABLE_NAME_VERSION else answer.map(_with_null_for_no_name)


def _with_null_for_no_name(response: JoinGroupResponse) -> JoinGroupResponse:
    """A protocol may be called nothing at all."""
    response.protocol_name = response.protocol_name or None
    return response
