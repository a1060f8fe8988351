"""What all handlers of groups share: the way to the coordinator, and its way to refuse."""

from typing import TypeVar, cast

from kafkish.coordinators.groups import refusals
from kafkish.deferred import Deferred
from kafkish.handlers.registry import RequestContext
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.schema import Request, Response

ResponseT = TypeVar("ResponseT", bound=Response)


def ask_coordinator(request: Request, context: RequestContext, _: type[ResponseT]) -> Deferred[ResponseT]:
    """Hand a request to the coordinator of its group. It answers with a response of the class that is named."""
    client_id = context.client_id or ""
    answer = context.services.groups.handle(request, context.api_version, client_id, context.client_host)
    return cast("Deferred[ResponseT]", answer)


def refuse_group(request: Request, version: int, code: ErrorCode, _: str | None) -> Response:
    """Group APIs have their own forms for errors, and no room for a message."""
    return refusals.refuse(request, version, code)
