"""Which APIs this node serves, in which versions, and by which function.

A handler is registered beside its definition:

    @handles(ApiKey.API_VERSIONS, "0-4")
    def api_versions(request: ApiVersionsRequest, context: RequestContext) -> ApiVersionsResponse: ...

ApiVersions answers from this registry, so nothing is advertised that is not served.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from kafkish.deferred import Deferred
from kafkish.handlers.services import Services
from kafkish_protocol.api import ApiKey
from kafkish_protocol.schema import Response
from kafkish_protocol.versions import Versions, parse_versions


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


Handler: TypeAlias = Callable[[Any, RequestContext], Response | Deferred[Any] | None]
HandlerT = TypeVar("HandlerT", bound=Handler)


@dataclass(frozen=True, slots=True)
class Served:
    """An API that this node serves."""

    versions: Versions
    handler: Handler


Registry: TypeAlias = dict[ApiKey, Served]

REGISTRY: Registry = {}


def handles(key: ApiKey, versions: str) -> Callable[[HandlerT], HandlerT]:
    """Register a handler for these versions of an API."""

    def register(handler: HandlerT) -> HandlerT:
        REGISTRY[key] = Served(parse_versions(versions), handler)
        return handler

    return register
