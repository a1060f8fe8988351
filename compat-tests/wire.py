"""One connection that sends single requests of chosen versions, with the message classes of kafka-python."""

import contextlib
import socket
from types import TracebackType
from typing import Any, Final

from kafka.protocol.metadata import ApiVersionsRequest

CLIENT_ID: Final = "compat-tests"


class Wire:
    """A socket to a broker. A request is answered before the next is sent, unless `post` and `receive` are used."""

    def __init__(self, address: str, timeout_s: float = 30) -> None:
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=timeout_s)
        self._correlation_id = 0

    def send(self, request: Any, version: int) -> Any:
        """Send one request and decode its response."""
        return self.receive(self.post(request, version))

    def post(self, request: Any, version: int) -> Any:
        """Send a request, and return what `receive` needs to know of it."""
        self._correlation_id += 1
        request.API_VERSION = version
        request.with_header(correlation_id=self._correlation_id, client_id=CLIENT_ID)
        self.socket.sendall(request.encode(header=True, framed=True))
        return request

    def receive(self, request: Any) -> Any:
        frame = self.receive_frame()
        response = request.header.get_response_class().decode(frame, header=True)
        assert response.header.correlation_id == request.header.correlation_id
        return response

    def receive_frame(self) -> bytes:
        """The next frame without its length. A peer that closes is an EOFError."""
        return self._read(int.from_bytes(self._read(4), "big"))

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            if not (chunk := self.socket.recv(size - len(data))):
                raise EOFError(f"the broker closed the connection, {size - len(data)} bytes short")
            data += chunk
        return bytes(data)

    def closed_by_peer(self) -> bool:
        """Whether the broker closes this connection without another byte."""
        with contextlib.suppress(ConnectionResetError):
            return self.socket.recv(1) == b""
        return True

    def api_versions(self) -> dict[int, range]:
        """Which versions the broker advertises, by API key."""
        request = ApiVersionsRequest(client_software_name=CLIENT_ID, client_software_version="1")
        return {api.api_key: range(api.min_version, api.max_version + 1) for api in self.send(request, 3).api_keys}

    def __enter__(self) -> "Wire":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()
