"""Work that must not be mixed with other work of its kind, and yet leaves the event loop to others now and then."""

import logging
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from kafkish.timers import Timers

_log: Final = logging.getLogger(__name__)

Work = Iterator[None]


class Turns:
    """Takes up one piece of work after the other, each when the one before has ended; at each `yield` others run."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._waiting: deque[Work] = deque()
        self._is_busy = False

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, work: Work) -> None:
        """Do it, at once if nothing else is under way."""
        self._waiting.append(work)
        if not self._is_busy:
            self._go_on()

    def _go_on(self) -> None:
        self._is_busy = True
        while self._waiting:
            if self._has_more(self._waiting[0]):
                self._timers.call_later(0, self._go_on)
                return
            self._waiting.popleft()
        self._is_busy = False

    def _has_more(self, work: Work) -> bool:
        """Do some of it. A mistake in it ends it, and keeps nobody else waiting."""
        end: Any = object()
        try:
            return next(work, end) is not end
        except Exception:
            _log.exception("%r failed", work)
            return False
