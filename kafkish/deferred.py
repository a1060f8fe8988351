"""A value that comes later, without an event loop.

Handlers, partitions and coordinators return one when an answer must wait. Whoever makes the value ready calls
`resolve`, and what was registered runs at once, in the same call: no task, no trip through the loop. Not for threads.
"""

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")
U = TypeVar("U")


class Deferred(Generic[T]):
    """Pending, then resolved or failed, once."""

    __slots__ = ("_abandoned", "_callbacks", "_error", "_is_done", "_value")

    def __init__(self) -> None:
        self._is_done = False
        self._value: T | None = None
        self._error: Exception | None = None
        self._callbacks: list[Callable[[Deferred[T]], object]] = []
        self._abandoned: Callable[[], object] | None = None

    @classmethod
    def of(cls, value: T) -> "Deferred[T]":
        """One that is ready."""
        made = cls()
        made.resolve(value)
        return made

    @classmethod
    def failed(cls, error: Exception) -> "Deferred[T]":
        """One that will never be."""
        made = cls()
        made.fail(error)
        return made

    @property
    def is_done(self) -> bool:
        return self._is_done

    def result(self) -> T:
        """The value, or the error raised, of one that is done."""
        assert self._is_done, "not done"
        if self._error is not None:
            raise self._error
        return cast("T", self._value)

    @property
    def error(self) -> Exception | None:
        """Why it failed; None if it did not, or has not yet."""
        return self._error

    def resolve(self, value: T) -> None:
        """Make it ready. A second time is a mistake of the caller."""
        assert not self._is_done, "resolved twice"
        self._value = value
        self._finish()

    def fail(self, error: Exception) -> None:
        """Make it fail."""
        assert not self._is_done, "resolved twice"
        self._error = error
        self._finish()

    def on_done(self, callback: "Callable[[Deferred[T]], object]") -> None:
        """Call when done; now, if it is."""
        if self._is_done:
            callback(self)
        else:
            self._callbacks.append(callback)

    def map(self, function: Callable[[T], U]) -> "Deferred[U]":
        """The function of the value, when it comes. An error passes through; so does being abandoned."""
        return self._then(lambda: function(self.result()))

    def rescue(self, function: Callable[[Exception], T]) -> "Deferred[T]":
        """The value; or, where it fails, what the function makes of the error."""

        def value_or_rescued() -> T:
            return self.result() if self._error is None else function(self._error)

        return self._then(value_or_rescued)

    def _then(self, outcome: Callable[[], U]) -> "Deferred[U]":
        """What a function that is called when this is done returns, or raises."""
        following: Deferred[U] = Deferred()

        def pass_on(_: Deferred[T]) -> None:
            if following._is_done:
                return
            try:
                following.resolve(outcome())
            except Exception as error:  # whatever it is, it belongs to whoever waits
                if following._is_done:
                    raise
                following.fail(error)

        following._abandoned = self.abandon
        self.on_done(pass_on)
        return following

    def when_abandoned(self, action: Callable[[], object]) -> "Deferred[T]":
        """What to do if nobody waits any more before it is done, such as forgetting the wait."""
        self._abandoned = action
        return self

    def abandon(self) -> None:
        """Nobody waits for it any more."""
        if not self._is_done and self._abandoned is not None:
            action, self._abandoned = self._abandoned, None
            action()

    def _finish(self) -> None:
        self._is_done = True
        self._abandoned = None
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)


def then(first: "Deferred[T]", following: "Callable[[], Deferred[U]]") -> "Deferred[U]":
    """What follows when the first is done; the error of whichever fails."""
    last: Deferred[U] = Deferred()

    def pass_on(done: "Deferred[U]") -> None:
        if done.error is None:
            last.resolve(done.result())
        else:
            last.fail(done.error)

    def go_on(done: "Deferred[T]") -> None:
        if done.error is None:
            following().on_done(pass_on)
        else:
            last.fail(done.error)

    first.on_done(go_on)
    return last


def in_turns(turns: "Iterator[Deferred[Any]]") -> "Deferred[None]":
    """Work that is cut in turns: each begins when what the one before has yielded is done, whether it failed or not."""
    finished: Deferred[None] = Deferred()

    def go_on(_: "Deferred[Any] | None" = None) -> None:
        try:
            for waited_for in turns:
                if not waited_for.is_done:
                    waited_for.on_done(go_on)
                    return
        except Exception as error:  # whatever it is, it belongs to whoever waits
            finished.fail(error)
        else:
            finished.resolve(None)

    go_on()
    return finished


def gather(waiting: "list[Deferred[Any]]") -> "Deferred[list[Any]]":
    """All values in order, when the last has come; the first error, as soon as there is one."""
    gathered: Deferred[list[Any]] = Deferred()
    missing = len(waiting)
    if not missing:
        gathered.resolve([])

    def one_is_done(done: Deferred[Any]) -> None:
        nonlocal missing
        missing -= 1
        if gathered.is_done:
            return
        if done._error is not None:
            gathered.fail(done._error)
        elif not missing:
            gathered.resolve([each.result() for each in waiting])

    def abandon_all() -> None:
        for each in waiting:
            each.abandon()

    for each in waiting:
        each.on_done(one_is_done)
    return gathered.when_abandoned(abandon_all)
