"""A client of a few lines: sends one request, waits for its response. For tests that look at bytes."""

import socket
from itertools import count
from typing import Any

from kafkish_protocol.api import ApiKey, request_header_version, response_class, response_header_version
from kafkish_protocol.messages.headers import RequestHeader, ResponseHeader
from kafkish_protocol.schema import Request


class RawClient:
    """One connection to a broker."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self.socket = socket.create_connection((host, port), timeout=30)
        self._correlation_ids = count(1)

    def __enter__(self) -> "RawClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, request: Request, version: int) -> Any:
        """Send a request and return its response."""
        key = ApiKey(request.schema.api_key or 0)
        self.socket.sendall(frame_of(request, version, next(self._correlation_ids)))
        body = self.read_frame()
        _, start = ResponseHeader.schema.decoders[response_header_version(key, version)](body)
        return response_class(key).decode(body, version, start)

    def read_frame(self) -> bytes:
        """The next frame without its length."""
        return self._read_exactly(int.from_bytes(self._read_exactly(4), "big"))

    def _read_exactly(self, count: int) -> bytes:
        parts = []
        while count:
            part = self.socket.recv(count)
            if not part:
                raise ConnectionError("the broker closed the connection")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def frame_of(request: Request, version: int, correlation_id: int = 1, client_id: str | None = "raw") -> bytes:
    """A request as it goes over the wire: length, header, body."""
    key = ApiKey(request.schema.api_key or 0)
    header = RequestHeader(
        request_api_key=key, request_api_version=version, correlation_id=correlation_id, client_id=client_id
    )
    data = header.encode(request_header_version(key, version)) + request.encode(version)
    return len(data).to_bytes(4, "big") + data
