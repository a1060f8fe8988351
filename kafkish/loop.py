"""asyncio's event loop behind the ports: timers and worker threads."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from kafkish.deferred import Deferred
from kafkish.timers import Timer

T = TypeVar("T")


class LoopTimers:
    """Timers of the running loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def call_later(self, delay_ms: float, action: Callable[[], object], /) -> Timer:
        return self._loop.call_later(min(delay_ms, _LONGEST_MS) / 1000, action)

    def call_soon(self, action: Callable[[], object], /) -> object:
        return self._loop.call_soon(action)


_LONGEST_MS = 7 * 24 * 3600 * 1000
"""Some settings mean never by a number that is too large for a loop; whoever waits so long looks again."""


class LoopWorkers:
    """A few threads for work that would hold the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, threads: int) -> None:
        self._loop = loop
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="kafkish-worker")
        self._is_stopped = False

    def run(self, work: Callable[[], T], /) -> Deferred[T]:
        """Do it in a thread; what it returns or raises comes back in the loop's thread. After `stop` nothing begins."""
        deferred: Deferred[T] = Deferred()
        if self._is_stopped:
            return deferred
        future = self._pool.submit(work)
        future.add_done_callback(lambda done: self._loop.call_soon_threadsafe(_pass_on, done, deferred))
        return deferred

    def submit(self, work: Callable[[], object], done: Callable[[Exception | None], object], /) -> None:
        """Do `work` in a thread, then `done` in the loop's thread, with what `work` raised."""
        self.run(work).on_done(lambda finished: done(finished.error))

    def stop(self) -> None:
        """Wait for what is under way."""
        self._is_stopped = True
        self._pool.shutdown()


def _pass_on(done: "Future[T]", deferred: Deferred[T]) -> None:
    error = done.exception()
    if error is None:
        deferred.resolve(done.result())
    elif isinstance(error, Exception):
        deferred.fail(error)
    else:
        raise error
