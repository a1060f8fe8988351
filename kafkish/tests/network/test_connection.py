"""Replies leave in order; a client that does not read, or asks too much, is made to wait."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from kafkish.deferred import Deferred
from kafkish.network import connection as module
from kafkish.network.connection import CloseConnection, Connection, Patience, Reply
from kafkish.network.outbox import SMALL_PART_BYTES

MORE_THAN_A_SOCKET_HOLDS = 1 << 22


class Part:
    """A part of a real file, and how often its bytes were asked for."""

    def __init__(self, file: BinaryIO, position: int, length: int) -> None:
        self._file, self.position, self._length = file, position, length
        self.touched = 0

    def __len__(self) -> int:
        return self._length

    def fileno(self) -> int:
        self.touched += 1
        return self._file.fileno()

    def read(self) -> bytes:
        self.touched += 1
        self._file.seek(self.position)
        return self._file.read(self._length)


class Harness:
    """A connection whose dispatcher answers with the frame in capitals, at once or when told."""

    def __init__(self) -> None:
        self.waiting: dict[bytes, Deferred[Reply]] = {}
        self.answers: dict[bytes, Reply] = {}
        self.requests: list[bytes] = []
        self.closed = False
        self.client, accepted = socket.socketpair()
        self.client.setblocking(False)
        accepted.setblocking(False)
        self.connection = Connection(accepted, self.dispatch, 1_000_000, on_close=self.on_close)
        self.connection.start()

    def on_close(self, connection: Connection) -> None:
        assert connection is self.connection
        self.closed = True

    def dispatch(self, frame: bytes | bytearray, _: Connection) -> Reply | Deferred[Reply]:
        frame = bytes(frame)
        self.requests.append(frame)
        if frame.startswith(b"bad"):
            raise CloseConnection("bad request")
        if frame.startswith(b"silent"):
            return None
        if frame.startswith(b"broken"):
            raise ZeroDivisionError
        if frame.startswith(b"later"):
            self.waiting[frame] = Deferred()
            return self.waiting[frame]
        return self.answers.get(frame) or [frame.upper()]

    async def send(self, *frames: bytes) -> None:
        """Until the connection has seen them all."""
        before = len(self.requests)
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(self.client, b"".join(struct.pack(">i", len(frame)) + frame for frame in frames))
        await until(lambda: self.closed or len(self.requests) - before == len(frames))

    def finish(self, frame: bytes) -> None:
        self.waiting[frame].resolve([frame.upper()])

    async def received(self, size_bytes: int) -> bytes:
        """So many bytes; what is there if the connection is closed before."""
        data = bytearray()
        while len(data) < size_bytes:
            part = await asyncio.get_running_loop().sock_recv(self.client, size_bytes - len(data))
            if not part:
                break
            data += part
        return bytes(data)

    def received_so_far(self) -> bytes:
        with contextlib.suppress(BlockingIOError):
            return self.client.recv(1 << 20)
        return b""

    async def fill_the_socket(self) -> None:
        """Answer with more than the client's socket takes while nobody reads."""
        self.answers[b"much"] = [bytes(MORE_THAN_A_SOCKET_HOLDS)]
        await self.send(b"much")


def in_loop(test: Callable[[Harness], Awaitable[None]]) -> Callable[[], None]:
    async def run() -> None:
        it = Harness()
        async with asyncio.timeout(20):
            await test(it)
        it.connection.close("the test is over")
        it.client.close()

    def wrapper() -> None:
        asyncio.run(run())

    return wrapper


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0)


async def settle() -> None:
    """As often as the loop could have something to do."""
    for _ in range(20):
        await asyncio.sleep(0)


@in_loop
async def test_reply_that_is_ready_leaves_at_once(it: Harness) -> None:
    await it.send(b"a", b"b")
    assert it.received_so_far() == b"AB"


@in_loop
async def test_replies_leave_in_the_order_of_the_requests(it: Harness) -> None:
    await it.send(b"later1", b"x", b"later2", b"y")
    it.finish(b"later2")
    await settle()
    assert it.received_so_far() == b""
    it.finish(b"later1")
    assert it.received_so_far() == b"LATER1XLATER2Y"


@in_loop
async def test_request_without_reply_does_not_hold_up_the_next(it: Harness) -> None:
    await it.send(b"silent", b"later1", b"silent", b"z")
    it.finish(b"later1")
    assert it.received_so_far() == b"LATER1Z"


@in_loop
async def test_reading_stops_while_the_client_does_not_read(it: Harness) -> None:
    await it.fill_the_socket()
    sending = asyncio.ensure_future(it.send(b"x"))
    await settle()
    assert it.requests == [b"much"]
    assert await it.received(MORE_THAN_A_SOCKET_HOLDS + 1) == bytes(MORE_THAN_A_SOCKET_HOLDS) + b"X"
    await sending


def test_reading_stops_while_too_many_requests_are_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_REQUESTS_UNDER_WAY", 3)

    @in_loop
    async def story(it: Harness) -> None:
        await it.send(b"later1", b"later2", b"later3")
        sending = asyncio.ensure_future(it.send(b"x"))
        await settle()
        assert len(it.requests) == 3
        it.finish(b"later1")
        await sending
        it.finish(b"later2")
        it.finish(b"later3")
        assert it.received_so_far() == b"LATER1LATER2LATER3X"

    story()


@in_loop
async def test_bad_request_closes_the_connection(it: Harness) -> None:
    await it.send(b"a", b"bad", b"b")
    assert await it.received(100) == b"A"
    assert it.requests == [b"a", b"bad"]


@in_loop
async def test_a_mistake_in_here_costs_one_connection(it: Harness) -> None:
    await it.send(b"broken")
    assert await it.received(100) == b""


@in_loop
async def test_handler_that_fails_later_closes_the_connection(it: Harness) -> None:
    await it.send(b"later1", b"b")
    it.waiting[b"later1"].fail(CloseConnection("broken"))
    assert await it.received(100) == b""


@in_loop
async def test_requests_under_way_are_abandoned_when_the_client_goes(it: Harness) -> None:
    await it.send(b"later1")
    abandoned: list[bool] = []
    it.waiting[b"later1"].when_abandoned(lambda: abandoned.append(True))
    it.client.close()
    await until(lambda: it.closed)
    assert abandoned == [True]


@in_loop
async def test_frame_that_is_never_finished_is_given_up(it: Harness) -> None:
    await asyncio.get_running_loop().sock_sendall(it.client, b"\x00\x00\x00\x64ab")
    await settle()
    it.connection.check(100.0, Patience())
    it.connection.check(129.0, Patience())
    assert not it.closed
    it.connection.check(131.0, Patience())
    assert it.closed


@in_loop
async def test_client_that_never_reads_its_replies_is_given_up(it: Harness) -> None:
    await it.fill_the_socket()
    it.connection.check(100.0, Patience())
    it.connection.check(159.0, Patience())
    assert not it.closed
    it.connection.check(161.0, Patience())
    assert it.closed


@in_loop
async def test_client_that_reads_slowly_is_waited_for(it: Harness) -> None:
    await it.fill_the_socket()
    for now_s in range(100, 700, 61):
        it.connection.check(now_s, Patience(1e9))
        await it.received(MORE_THAN_A_SOCKET_HOLDS // 11)
        await settle()
    assert not it.closed


@in_loop
async def test_silence_between_frames_is_no_fault_for_a_while(it: Harness) -> None:
    await it.send(b"a")
    now_s = it.connection.last_active_s
    it.connection.check(now_s + 1, Patience())
    it.connection.check(now_s + 599, Patience())
    assert not it.closed
    it.connection.check(now_s + 601, Patience())
    assert it.closed


@in_loop
async def test_client_that_waits_for_an_answer_is_not_idle(it: Harness) -> None:
    await it.send(b"later1")
    it.connection.check(it.connection.last_active_s + 1e6, Patience())
    assert not it.closed


@pytest.mark.parametrize("size_bytes", [5, SMALL_PART_BYTES, SMALL_PART_BYTES + 1, MORE_THAN_A_SOCKET_HOLDS])
def test_parts_of_files_stand_where_they_belong(tmp_path: Path, size_bytes: int) -> None:
    data = b"0123456789abcdef" * (size_bytes // 16 + 2)
    path = tmp_path / "file"
    path.write_bytes(data)

    @in_loop
    async def story(it: Harness) -> None:
        with path.open("rb") as file:
            it.answers[b"x"] = [b"<", Part(file, 3, size_bytes), b"|", Part(file, 0, size_bytes), b">"]
            sending = asyncio.ensure_future(it.send(b"x", b"y"))
            wanted = b"<%b|%b>Y" % (data[3 : 3 + size_bytes], data[:size_bytes])
            assert await it.received(len(wanted)) == wanted
            await sending

    story()


def test_file_is_not_touched_before_it_is_its_turn(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(SMALL_PART_BYTES * 2))

    @in_loop
    async def story(it: Harness) -> None:
        with path.open("rb") as file:
            parts = [Part(file, 0, 4), Part(file, 0, SMALL_PART_BYTES * 2)]
            await it.send(b"later1", b"later2")
            it.waiting[b"later2"].resolve([b"2:", *parts])
            it.waiting[b"later1"].resolve([bytes(MORE_THAN_A_SOCKET_HOLDS)])
            assert [part.touched for part in parts] == [0, 0]
            await it.received(MORE_THAN_A_SOCKET_HOLDS)
            assert await it.received(6 + SMALL_PART_BYTES * 2) == b"2:" + bytes(4 + SMALL_PART_BYTES * 2)

    story()


@pytest.mark.parametrize("size_bytes", [4, SMALL_PART_BYTES + 1])
def test_file_that_is_too_short_closes_the_connection(tmp_path: Path, size_bytes: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")

    @in_loop
    async def story(it: Harness) -> None:
        with path.open("rb") as file:
            it.answers[b"x"] = [b"1", Part(file, 0, size_bytes)]
            await it.send(b"x", b"y")
            assert len(await it.received(100)) < 1 + size_bytes
            assert it.closed

    story()
