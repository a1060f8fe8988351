"""Repeatable chance. The same seed gives the same throws on every version of Python and every machine."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1


class Dice:
    """A linear congruential generator (Knuth's MMIX), of which the high bits are used."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = (seed * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03) & _MASK
        for _ in range(3):
            self(2)

    def __call__(self, sides: int) -> int:
        """A number from 0 to `sides` - 1."""
        self._state = state = (self._state * 6364136223846793005 + 1442695040888963407) & _MASK
        return (state >> 31) % sides

    def between(self, low: int, high: int) -> int:
        return low + self(high - low + 1)

    def chance(self, per_mille: int) -> bool:
        return per_mille > 0 and self(1000) < per_mille

    def choose(self, items: Sequence[T]) -> T:
        return items[self(len(items))]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        rest = list(items)
        return [rest.pop(self(len(rest))) for _ in range(count)]
