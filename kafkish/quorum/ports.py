"""What the quorum needs of its surroundings, besides files (`kafkish_storage.Files`) and `kafkish.timers.Timers`."""

from collections.abc import Callable
from typing import Protocol

from kafkish_raft.effects import Send


class Clock(Protocol):
    """The module `kafkish.clock` is one."""

    def wall_ms(self) -> int:
        """Milliseconds since 1970, for what is written down."""

    def monotonic_ms(self) -> int:
        """Milliseconds that only grow, for what is waited for."""


class Executor(Protocol):
    """Runs what would block: a thread pool in the broker, a list in tests."""

    def submit(self, work: Callable[[], object], done: Callable[[Exception | None], object], /) -> None:
        """Run `work` on any thread, then `done` on the owner's, with what `work` raised. Never within this call."""


class PeerChannel(Protocol):
    """The way to the other nodes of the quorum."""

    def send(self, message: Send, /) -> None:
        """Send it, and never wait. The answer, or that there is none, goes to `Quorum.answered`."""


class Dice(Protocol):
    """Chance, as `random.Random` gives it."""

    def randrange(self, stop: int, /) -> int: ...
    def randbytes(self, n: int, /) -> bytes: ...
