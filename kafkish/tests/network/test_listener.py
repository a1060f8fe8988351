"""Connections are accepted within limits."""

import asyncio
import errno
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kafkish.network import listener as module
from kafkish.network.connection import Connection, Patience, Reply
from kafkish.network.listener import Limits, Listener, ListenError, bind

ANY = 1_000_000


def echo(frame: bytes | bytearray, connection: Connection) -> Reply:
    return [frame]


@asynccontextmanager
async def listening(limits: Limits) -> AsyncIterator[Listener]:
    listener = Listener(bind("127.0.0.1", 0), echo, limits)
    listener.start()
    async with asyncio.timeout(20):
        yield listener
    listener.stop_accepting()
    listener.close_all("the test is over")


async def is_served(listener: Listener, source: str = "127.0.0.1") -> tuple[bool, asyncio.StreamWriter]:
    """Whether a new connection gets an answer."""
    reader, writer = await asyncio.open_connection(*listener.address, local_addr=(source, 0))
    writer.write(b"\x00\x00\x00\x01x")
    try:
        return await reader.read(1) == b"x", writer
    except ConnectionResetError:
        return False, writer


async def closed(listener: Listener, writer: asyncio.StreamWriter) -> None:
    before = len(listener)
    writer.close()
    while len(listener) == before:
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("limits", [Limits(ANY, 2, ANY), Limits(ANY, ANY, 2), Limits(ANY, ANY, 9, {"127.0.0.1": 2})])
def test_connection_beyond_the_limit_is_closed_until_another_has_gone(limits: Limits) -> None:
    async def story() -> None:
        async with listening(limits) as listener:
            (first_served, first), (second_served, _) = await is_served(listener), await is_served(listener)
            assert first_served
            assert second_served
            assert not (await is_served(listener))[0]
            await closed(listener, first)
            assert (await is_served(listener))[0]

    asyncio.run(story())


def test_limit_of_one_address_does_not_concern_another() -> None:
    async def story() -> None:
        async with listening(Limits(ANY, ANY, 1)) as listener:
            assert (await is_served(listener, "127.0.0.1"))[0]
            assert not (await is_served(listener, "127.0.0.1"))[0]
            assert (await is_served(listener, "127.0.0.2"))[0]

    asyncio.run(story())


def test_who_comes_when_there_are_no_descriptors_left_is_served_when_there_are(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a pause, the loop would be told again and again of a client that cannot be accepted."""
    monkeypatch.setattr(module, "_PAUSE_S", 0.01)
    failures = iter([OSError(errno.EMFILE, "Too many open files"), OSError(errno.ECONNABORTED, "gone")])

    class Exhausted(socket.socket):
        def accept(self) -> tuple[socket.socket, tuple[str, int]]:
            if error := next(failures, None):
                raise error
            return super().accept()

    async def story() -> None:
        bound = bind("127.0.0.1", 0)
        exhausted = Exhausted(fileno=bound.detach())
        listener = Listener(exhausted, echo, Limits(ANY, ANY, ANY))
        listener.start()
        assert (await is_served(listener))[0]
        listener.stop_accepting()
        listener.close_all("the test is over")

    asyncio.run(story())
    assert "no connection can be accepted" in caplog.text
    assert next(failures, None) is None


def test_more_connections_than_a_second_may_bring_wait_for_the_next() -> None:
    async def story() -> None:
        async with listening(Limits(ANY, ANY, ANY, max_accepted_per_s=2)) as listener:
            begun_s = asyncio.get_running_loop().time()
            assert all([(await is_served(listener))[0] for _ in range(5)])
            assert asyncio.get_running_loop().time() - begun_s >= 1.9  # two, two, and one

    asyncio.run(story())


def test_limits_may_change_while_connections_are_accepted() -> None:
    async def story() -> None:
        async with listening(Limits(ANY, 1, ANY)) as listener:
            assert (await is_served(listener))[0]
            assert not (await is_served(listener))[0]
            listener.limits = Limits(ANY, 2, ANY)
            assert (await is_served(listener))[0]

    asyncio.run(story())


def test_silence_is_noticed_as_soon_as_it_is_too_long() -> None:
    async def story() -> None:
        async with listening(Limits(ANY, ANY, ANY, patience=Patience(idle_s=0.2))) as listener:
            assert (await is_served(listener))[0]
            while len(listener):
                await asyncio.sleep(0.001)

    asyncio.run(story())


def test_sizes_of_buffers_are_those_that_are_wanted() -> None:
    async def sizes(limits: Limits) -> tuple[int, int]:
        async with listening(limits) as listener:
            await is_served(listener)
            (connection,) = listener
            of = connection._socket.getsockopt
            return of(socket.SOL_SOCKET, socket.SO_SNDBUF), of(socket.SOL_SOCKET, socket.SO_RCVBUF)

    wanted = Limits(ANY, ANY, ANY, send_buffer_bytes=50_000, receive_buffer_bytes=60_000)
    assert asyncio.run(sizes(wanted)) == (100_000, 120_000)  # Linux doubles what it is told
    assert min(asyncio.run(sizes(Limits(ANY, ANY, ANY)))) > 120_000


def test_address_in_use_is_named() -> None:
    taken = bind("127.0.0.1", 0)
    taken.listen()
    with pytest.raises(ListenError, match=f"127.0.0.1:{taken.getsockname()[1]}: Address already in use"):
        bind("127.0.0.1", taken.getsockname()[1])
    taken.close()
