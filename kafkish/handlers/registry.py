"""Which APIs this node serves, in which versions, and by which function.

`catalog.py` lists them. A handler is registered beside its definition, in the module that has its API's name:

    @handles(ApiKey.API_VERSIONS)
    def api_versions(request: ApiVersionsRequest, context: RequestContext) -> ApiVersionsResponse: ...

ApiVersions answers from this registry, so nothing is advertised that is not served. Whatever a handler raises, now or
later, is answered in the API's own form: no client loses its connection over a mistake in here.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias, TypeVar

from kafkish.deferred import Deferred
from kafkish.handlers.refusals import Refuse, refuse
from kafkish.handlers.services import ControllerError, Services
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.versions import Versions

log = logging.getLogger("kafkish.handlers")


class RequestError(Exception):
    """The request as a whole is refused."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(message or code.name)
        self.code = code
        self.message = message


@dataclass(slots=True)
class RequestContext:
    """What a handler may know of a request besides its body."""

    api_key: ApiKey
    api_version: int
    client_id: str | None
    client_host: str
    listener: str  # the name of the listener that the client came in by
    local_host: str  # the address that the client dialled
    local_port: int
    services: Services
    served: "Registry"


class Disconnect(Exception):  # not an error of ours: a request that has no answer but this
    """Close the client's connection, as Kafka does."""


Outcome: TypeAlias = Response | Deferred[Response | None] | None
"""A response, now or later; None where the client wants none."""
Handler: TypeAlias = Callable[[Any, RequestContext], Outcome | Deferred[Any]]
HandlerT = TypeVar("HandlerT", bound=Handler)


class Served:
    """An API that this node serves. Its handler is imported when it is first needed."""

    __slots__ = ("handler", "key", "refuse", "versions")

    def __init__(self, key: ApiKey, versions: Versions) -> None:
        self.key = key
        self.versions = versions
        self.handler: Handler = self._import_and_handle
        self.refuse: Refuse = refuse

    def _import_and_handle(self, request: Request, context: RequestContext) -> Outcome:
        """Stands for the handler until its module is there, and has put it in this place."""
        import_module(f"kafkish.handlers.{self.key.name.lower()}")
        return self.handler(request, context)

    def respond(self, request: Request, context: RequestContext) -> Outcome:
        """What the handler answers; or, in the same form, why it cannot."""
        try:
            outcome = self.handler(request, context)
        except Disconnect:
            raise
        except Exception as error:  # whatever it is, the client is told
            return self.on_error(request, context, error)
        if isinstance(outcome, Deferred):
            return outcome.rescue(lambda error: self.on_error(request, context, error))
        return outcome

    def on_error(self, request: Request, context: RequestContext, error: Exception) -> Response | None:
        """The response that tells of an error. Only those that nobody foresaw are logged."""
        match error:
            case Disconnect():
                raise error
            case RequestError(code=code, message=message):
                return self.refuse(request, context.api_version, code, message)
            case ControllerError():
                return self.refuse(request, context.api_version, ErrorCode.NOT_CONTROLLER, str(error) or None)
            case _:
                who = context.client_id, context.client_host
                log.error("%s v%d of %s at %s failed", context.api_key.title, context.api_version, *who, exc_info=error)
                return self.refuse(request, context.api_version, ErrorCode.UNKNOWN_SERVER_ERROR, None)


Registry: TypeAlias = dict[ApiKey, Served]

REGISTRY: Registry = {}


def handles(key: ApiKey, refuse: Refuse = refuse) -> Callable[[HandlerT], HandlerT]:
    """Register the handler of an API; `refuse` where its error responses have a form of their own."""

    def register(handler: HandlerT) -> HandlerT:
        REGISTRY[key].handler, REGISTRY[key].refuse = handler, refuse
        return handler

    return register
