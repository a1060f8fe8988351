"""Timers as a port: whoever waits says for how long, and does not know the event loop."""

from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """Something that will happen unless it is cancelled."""

    def cancel(self) -> None: ...


class Timers(Protocol):
    """Makes things happen later, in the event loop's thread."""

    def call_later(self, delay_ms: float, action: Callable[[], object], /) -> Timer: ...

    def call_soon(self, action: Callable[[], object], /) -> object:
        """As soon as what is being done now is done, and its answer sent."""
