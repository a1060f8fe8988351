"""Timers of a shard, by key. Setting a key again moves its timer; heartbeats do that all the time.

A timer that is moved to a later time keeps its place in the queue and is looked at again when that place comes up, so a
client that hammers heartbeats costs one entry, not one per request.
"""

import heapq
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

from kafkish.coordinators.inputs import Now

Action: TypeAlias = Callable[[Now], None]

_STALE_ALLOWED = 64  # entries of cancelled timers that are not worth a clean-up


@dataclass(slots=True)
class _Timer:
    due_ms: int
    action: Action
    queued_ms: int
    ticket: int  # names the queue's entry that stands for this timer; others are stale


class Deadlines:
    """What is to be done when."""

    def __init__(self) -> None:
        self._timers: dict[Hashable, _Timer] = {}
        self._queue: list[tuple[int, int, Hashable]] = []
        self._tickets = count()

    def __len__(self) -> int:
        return len(self._timers)

    def set(self, key: Hashable, due_ms: int, action: Action) -> None:
        """Do `action` at `due_ms`, instead of whatever stood under this key."""
        timer = self._timers.get(key)
        if timer is not None and timer.queued_ms <= due_ms:
            timer.due_ms, timer.action = due_ms, action
            return
        ticket = next(self._tickets)
        self._timers[key] = _Timer(due_ms, action, due_ms, ticket)
        heapq.heappush(self._queue, (due_ms, ticket, key))
        self._forget_stale()

    def cancel(self, key: Hashable) -> None:
        """Forget what stands under this key, if anything does."""
        self._timers.pop(key, None)

    def next_ms(self) -> int | None:
        """When the earliest timer is due."""
        return self._timers[key].due_ms if (key := self._earliest()) is not None else None

    def run_due(self, now: Now) -> None:
        """Run what is due, at most as many actions as timers stand here: it ends, whatever the actions set."""
        for _ in range(len(self._timers)):
            key = self._earliest()
            if key is None or self._timers[key].due_ms > now.monotonic_ms:
                return
            heapq.heappop(self._queue)
            self._timers.pop(key).action(now)

    def _earliest(self) -> Hashable | None:
        """The key at the head of the queue, after stale entries are gone and moved timers stand in their place."""
        while self._queue:
            queued_ms, ticket, key = self._queue[0]
            timer = self._timers.get(key)
            if timer is None or timer.ticket != ticket:
                heapq.heappop(self._queue)
            elif timer.due_ms > queued_ms:
                timer.queued_ms = timer.due_ms
                heapq.heapreplace(self._queue, (timer.due_ms, ticket, key))
            else:
                return key
        return None

    def _forget_stale(self) -> None:
        if len(self._queue) > 2 * len(self._timers) + _STALE_ALLOWED:
            self._queue = [(timer.queued_ms, timer.ticket, key) for key, timer in self._timers.items()]
            heapq.heapify(self._queue)
