"""From a frame to a handler, and from its response to the bytes of a reply.

Written once for all APIs: header, version rules, decoding, encoding. A frame that breaks a rule gets what Kafka gives:
a closed connection, or the one answer that ApiVersions has for versions from the future.
"""

import logging
import struct
from collections.abc import Callable
from typing import Final

from kafkish.deferred import Deferred
from kafkish.handlers.registry import Disconnect, Registry, RequestContext, Served
from kafkish.handlers.services import Services
from kafkish.metrics import Metrics
from kafkish.network.connection import CloseConnection, Connection, Reply
from kafkish.network.outbox import Piece
from kafkish.reachability import Reachability
from kafkish_protocol.api import (
    ApiKey,
    request_class,
    request_header_version,
    response_class,
    response_header_version,
)
from kafkish_protocol.errors import CodecError
from kafkish_protocol.messages.headers import RequestHeader
from kafkish_protocol.schema import Response, interleave
from kafkish_protocol.varint import Buffer

log = logging.getLogger("kafkish.dispatch")

_START: Final = struct.Struct(">hhi")  # API key, version, correlation id: the same in every header
_REPLY_START: Final = struct.Struct(">ii")  # length, correlation id
_LENGTH_BYTES: Final = 4


class Route:
    """What one version of one API needs, looked up once and kept."""

    __slots__ = (
        "api_key", "decode", "decode_header", "encode", "header_room", "latency", "received", "respond", "sent",
        "version",
    )  # fmt: skip

    def __init__(self, api_key: ApiKey, version: int, served: Served, metrics: Metrics) -> None:
        self.api_key = api_key
        self.version = version
        self.respond = served.respond
        self.decode_header = RequestHeader.schema.decoders[request_header_version(api_key, version)]
        self.decode = request_class(api_key).schema.decoders[version]
        self.encode = response_class(api_key).schema.encoders[version]
        api = api_key.title
        self.latency = metrics.histogram("kafkish_request_seconds", "From a request to its response", api=api)
        self.received = metrics.counter("kafkish_received_bytes", "Bytes of requests", api=api)
        self.sent = metrics.counter("kafkish_sent_bytes", "Bytes of responses", api=api)
        self.header_room = bytes(_REPLY_START.size + response_header_version(api_key, version))
        """Of a response: its length, its correlation id, and in flexible versions a zero: no tags."""


class Dispatch:
    """Dispatches frames to the handlers of a registry."""

    def __init__(
        self,
        served: Registry,
        services: Services,
        listener: str,
        *,
        metrics: Metrics,
        monotonic_s: Callable[[], float],
        reachability: Reachability | None = None,
    ) -> None:
        self._served = served
        self._services = services
        self._listener = listener
        self._metrics = metrics
        self._monotonic_s = monotonic_s
        self._reachability = reachability
        self._routes: dict[tuple[int, int], Route] = {}

    def __call__(self, frame: bytes | bytearray, connection: Connection, /) -> Reply | Deferred[Reply]:
        """The reply to a frame, now or later."""
        if len(frame) < _START.size:
            raise CloseConnection(f"a frame of {len(frame)} bytes is shorter than a request's header")
        key, version, correlation_id = _START.unpack_from(frame)
        route = self._routes.get((key, version)) or self._find(key, version)
        if route is None:
            return self._newer_api_versions(correlation_id)
        try:
            header, offset = route.decode_header(frame)
            request, _ = route.decode(frame, offset)
        except CodecError as error:
            raise CloseConnection(str(error)) from None
        context = RequestContext(
            route.api_key,
            version,
            header.client_id,
            connection.peer[0],
            self._listener,
            connection.local[0],
            connection.local[1],
            self._services,
            self._served,
        )
        if self._reachability is not None:
            self._reachability.saw(route.api_key, connection.peer[0])
        started_s = self._monotonic_s()
        route.received.value += len(frame)
        try:
            outcome = route.respond(request, context)
            if isinstance(outcome, Deferred):
                return outcome.map(lambda response: self._reply(response, route, correlation_id, started_s))
            return self._reply(outcome, route, correlation_id, started_s)
        except Disconnect as reason:
            raise CloseConnection(str(reason)) from None

    def _reply(self, response: Response | None, route: Route, correlation_id: int, started_s: float) -> Reply:
        """The reply; a response that cannot be encoded is our mistake, and the client's connection ends."""
        route.latency.observe(self._monotonic_s() - started_s)
        if response is None:
            return None
        try:
            pieces, size_bytes = encoded(response, route, correlation_id)
        except Exception:
            log.exception("the response of %s v%d cannot be encoded", route.api_key.title, route.version)
            raise CloseConnection("the request failed") from None
        route.sent.value += size_bytes
        return pieces

    def _find(self, key: int, version: int) -> Route | None:
        """The route of an API and version seen for the first time; None for a version of ApiVersions not known here."""
        served = self._served.get(key)  # type: ignore[call-overload]  # any int may be asked for
        if served is None:
            raise CloseConnection(f"API {key} is not served here")
        if version not in served.versions:
            if key == ApiKey.API_VERSIONS:
                return None
            raise CloseConnection(f"version {version} of {ApiKey(key).title} is not served here")
        route = self._routes[key, version] = Route(ApiKey(key), version, served, self._metrics)
        return route

    def _newer_api_versions(self, correlation_id: int) -> Reply:
        from kafkish.handlers.api_versions import unsupported_version  # noqa: PLC0415  # as all handlers: when needed

        oldest = Route(ApiKey.API_VERSIONS, 0, self._served[ApiKey.API_VERSIONS], self._metrics)
        return encoded(unsupported_version(self._served), oldest, correlation_id)[0]


def encoded(response: Response, route: Route, correlation_id: int) -> tuple[list[Piece], int]:
    """Length, header and body, and how long that is; records stay apart and are not copied."""
    out = bytearray(route.header_room)
    cuts: list[tuple[int, Buffer]] = []
    route.encode(response, out, cuts)
    size_bytes = len(out) + sum([len(records) for _, records in cuts]) if cuts else len(out)
    _REPLY_START.pack_into(out, 0, size_bytes - _LENGTH_BYTES, correlation_id)
    return (list(interleave(out, cuts)) if cuts else [out]), size_bytes
