"""Changes on top of a mapping that stays as it is."""

from collections.abc import Mapping
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class Overlay(Generic[KeyT, ValueT]):
    """Reads through to a mapping, and copies it at the first change."""

    __slots__ = ("_base", "_copy", "changed")

    def __init__(self, base: Mapping[KeyT, ValueT]) -> None:
        self._base = base
        self._copy: dict[KeyT, ValueT] | None = None
        self.changed: set[KeyT] = set()
        """Keys that were set or removed, if only to what they were before."""

    @property
    def result(self) -> Mapping[KeyT, ValueT]:
        """What the mapping has become; the very same one if nothing changed."""
        return self._base if self._copy is None else self._copy

    def get(self, key: KeyT) -> ValueT | None:
        """The present value."""
        return self.result.get(key)

    def set(self, key: KeyT, value: ValueT) -> None:
        """Add or replace."""
        self._own()[key] = value
        self.changed.add(key)

    def remove(self, key: KeyT) -> ValueT | None:
        """Take out what may be there."""
        if key not in self.result:
            return None
        self.changed.add(key)
        return self._own().pop(key)

    def _own(self) -> dict[KeyT, ValueT]:
        if self._copy is None:
            self._copy = dict(self._base)
        return self._copy

    def really_changed(self) -> frozenset[KeyT]:
        """Keys whose value is not what it was."""
        before, after = self._base, self.result
        return frozenset(key for key in self.changed if before.get(key) != after.get(key))
