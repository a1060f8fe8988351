"""Bounds how many segments hold open files. Owner's thread."""

from typing import Final, Protocol

_TRIES: Final = 16


class Sleeper(Protocol):
    """Something that opens its files when it needs them, and can close them until then."""

    used: bool

    @property
    def may_sleep(self) -> bool: ...
    def sleep(self) -> None: ...


class Handles:
    """Knows who holds files, and sends those to sleep that were not used since they were last looked at.

    Who holds writes that no sync has covered stays awake: a descriptor is where the kernel reports that they failed.
    """

    __slots__ = ("_awake", "limit")

    def __init__(self, limit: int = 4096) -> None:
        self.limit = limit
        self._awake: dict[Sleeper, None] = {}

    def __len__(self) -> int:
        return len(self._awake)

    def opened(self, sleeper: Sleeper) -> None:
        self._awake[sleeper] = None
        if len(self._awake) > self.limit:
            self._send_one_to_sleep(sleeper)

    def closed(self, sleeper: Sleeper) -> None:
        self._awake.pop(sleeper, None)

    def _send_one_to_sleep(self, opened: Sleeper) -> None:
        """But not the one that has just opened its files, and is about to use them."""
        for _ in range(_TRIES):
            sleeper = next(iter(self._awake))
            del self._awake[sleeper]
            if sleeper is not opened and sleeper.may_sleep and not sleeper.used:
                sleeper.sleep()
                return
            sleeper.used = False
            self._awake[sleeper] = None
