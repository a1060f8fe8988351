"""Who waits for a partition to have something new: waiting fetches, and whoever else wants to be told.

A watcher that is called may end its watch, and others', at once; it is never called again after that.
"""

from typing import Protocol, TypeVar

T = TypeVar("T")


class Watcher(Protocol):
    """Is told that something may have changed, and looks for itself."""

    def notified(self, watched: "Watchable", /) -> None: ...


class Watchable:
    """Keeps its watchers in the order in which they came."""

    __slots__ = ("_watchers",)

    def __init__(self) -> None:
        self._watchers: dict[Watcher, None] = {}

    @property
    def watcher_count(self) -> int:
        return len(self._watchers)

    def watchers(self, kind: type[T]) -> list[T]:
        """Those of one kind."""
        return [watcher for watcher in list(self._watchers) if isinstance(watcher, kind)]

    def watch(self, watcher: Watcher) -> None:
        self._watchers[watcher] = None

    def unwatch(self, watcher: Watcher) -> None:
        self._watchers.pop(watcher, None)

    def notify(self) -> None:
        """Tell all watchers; nothing to do, and nothing done, where there are none."""
        if self._watchers:
            for watcher in list(self._watchers):
                if watcher in self._watchers:
                    watcher.notified(self)
