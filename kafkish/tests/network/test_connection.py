"""Replies leave in order; a client that does not read, or asks too much, is made to wait."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kafkish.deferred import Deferred
from kafkish.network import connection as module
from kafkish.network.connection import MAX_REQUESTS_UNDER_WAY, CloseConnection, Connection, Reply


class FakeTransport(asyncio.Transport):
    """Remembers what was done to it."""

    def __init__(self) -> None:
        super().__init__({"peername": ("10.0.0.1", 5), "sockname": ("10.0.0.2", 9092)})
        self.written = bytearray()
        self._reading = True
        self.aborted = False

    def write(self, data: Any) -> None:
        self.written += data

    def writelines(self, pieces: Any) -> None:
        self.written += b"".join(pieces)

    def pause_reading(self) -> None:
        assert self._reading
        self._reading = False

    def resume_reading(self) -> None:
        assert not self._reading
        self._reading = True

    def is_reading(self) -> bool:
        return self._reading

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True


class Harness:
    """A connection whose dispatcher answers with the frame in capitals, at once or when told."""

    def __init__(self) -> None:
        self.waiting: dict[bytes, Deferred[Reply]] = {}
        self.transport = FakeTransport()
        self.connection = Connection(self.dispatch, 1_000_000)
        self.connection.connection_made(self.transport)

    def dispatch(self, frame: bytes | bytearray, _: Connection) -> Reply | Deferred[Reply]:
        if frame.startswith(b"bad"):
            raise CloseConnection("bad request")
        if frame.startswith(b"silent"):
            return None
        if frame.startswith(b"later"):
            self.waiting[bytes(frame)] = Deferred()
            return self.waiting[bytes(frame)]
        return [bytes(frame).upper()]

    def receive(self, *frames: bytes) -> None:
        data = b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)
        buffer = self.connection.get_buffer(-1)
        buffer[: len(data)] = data
        self.connection.buffer_updated(len(data))

    def finish(self, frame: bytes) -> None:
        self.waiting[frame].resolve([frame.upper()])


def in_loop(test: Callable[[Harness], Awaitable[None]]) -> Callable[[], None]:
    async def run() -> None:
        await test(Harness())

    def wrapper() -> None:
        asyncio.run(run())

    return wrapper


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@in_loop
async def test_reply_that_is_ready_leaves_at_once(it: Harness) -> None:
    it.receive(b"a", b"b")
    assert it.transport.written == b"AB"


@in_loop
async def test_replies_leave_in_the_order_of_the_requests(it: Harness) -> None:
    it.receive(b"later1", b"x", b"later2", b"y")
    it.finish(b"later2")
    await settle()
    assert it.transport.written == b""
    it.finish(b"later1")
    await settle()
    assert it.transport.written == b"LATER1XLATER2Y"


@in_loop
async def test_request_without_reply_does_not_hold_up_the_next(it: Harness) -> None:
    it.receive(b"silent", b"later1", b"silent", b"z")
    it.finish(b"later1")
    await settle()
    assert it.transport.written == b"LATER1Z"


@in_loop
async def test_reading_stops_while_the_client_does_not_read(it: Harness) -> None:
    it.connection.pause_writing()
    assert not it.transport.is_reading()
    it.connection.resume_writing()
    assert it.transport.is_reading()


@in_loop
async def test_reading_stops_while_too_many_requests_are_under_way(it: Harness) -> None:
    frames = [b"later%d" % n for n in range(MAX_REQUESTS_UNDER_WAY)]
    it.receive(*frames[:-1])
    assert it.transport.is_reading()
    it.receive(frames[-1])
    assert not it.transport.is_reading()
    it.finish(frames[0])
    await settle()
    assert it.transport.is_reading()


@in_loop
async def test_bad_request_closes_the_connection(it: Harness) -> None:
    it.receive(b"a", b"bad", b"b")
    assert it.transport.aborted
    assert it.transport.written == b"A"


@in_loop
async def test_handler_that_fails_later_closes_the_connection(it: Harness) -> None:
    it.receive(b"later1", b"b")
    it.waiting[b"later1"].fail(CloseConnection("broken"))
    await settle()
    assert it.transport.aborted
    assert it.transport.written == b""


@in_loop
async def test_requests_under_way_are_abandoned_when_the_client_goes(it: Harness) -> None:
    it.receive(b"later1")
    abandoned: list[bool] = []
    it.waiting[b"later1"].when_abandoned(lambda: abandoned.append(True))
    it.connection.connection_lost(None)
    assert abandoned == [True]


def test_frame_that_is_never_finished_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        monkeypatch.setattr(module, "FRAME_DEADLINE_S", 0.01)
        it = Harness()
        it.connection.get_buffer(-1)[:6] = b"\x00\x00\x00\x64ab"
        it.connection.buffer_updated(6)
        async with asyncio.timeout(5):
            while not it.transport.aborted:
                await asyncio.sleep(0.001)

    asyncio.run(run())


@in_loop
async def test_silence_between_frames_is_no_fault(it: Harness) -> None:
    it.receive(b"a")
    assert not it.connection._frame_deadline.is_running


class BrokenPart:
    def __len__(self) -> int:
        return 5

    def read(self) -> bytes:
        raise OSError("disk")


@in_loop
async def test_file_parts_are_read_when_it_is_their_turn(it: Harness) -> None:
    class Part:
        reads = 0

        def __len__(self) -> int:
            return 4

        def read(self) -> bytes:
            Part.reads += 1
            return b"file"

    it.receive(b"later1", b"later2")
    it.waiting[b"later2"].resolve([b"2:", Part()])
    assert Part.reads == 0
    it.connection.pause_writing()
    it.finish(b"later1")
    assert (Part.reads, bytes(it.transport.written)) == (0, b"")
    it.connection.resume_writing()
    assert (Part.reads, bytes(it.transport.written)) == (1, b"LATER12:file")


@in_loop
async def test_file_that_cannot_be_read_closes_the_connection(it: Harness) -> None:
    it.receive(b"later1")
    it.waiting[b"later1"].resolve([BrokenPart()])
    assert it.transport.aborted
