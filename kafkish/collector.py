"""When Python looks for garbage in cycles. It holds the loop meanwhile, so what stays for long is left out of it."""

import gc
from typing import Final

_LOOK_AFTER: Final = (10_000, 10, 50)
"""New objects before a look at the young, the older, and all: most of what is dropped goes at once, without a look."""
_MANY: Final = 1_000
"""Partitions: so many are looked at in some milliseconds."""


def rest() -> None:
    """While modules are loaded: they are no garbage, and looking through them costs a tenth of the start."""
    gc.disable()


def begin() -> None:
    """Look, from now on. What is there stays."""
    gc.freeze()
    gc.set_threshold(*_LOOK_AFTER)
    gc.enable()


class Partitions:
    """Told of partitions that were made. They stay, and one that goes leaves no cycles: they need never be looked at.

    What is in cycles and dies later is never freed once it is left out. So that happens seldom, and after a look.
    """

    def __init__(self) -> None:
        self._new = 0

    def made(self, count: int) -> None:
        self._new += count
        if self._new >= _MANY:
            self._new = 0
            gc.collect()
            gc.freeze()
