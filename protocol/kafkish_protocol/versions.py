"""Ranges of message versions, written as in Kafka's schemas: `3`, `0-5`, `2+`, `none`."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

_NO_UPPER_BOUND: Final = 32_767


@dataclass(frozen=True, slots=True)
class Versions:
    """An inclusive range; empty when `low > high`."""

    low: int
    high: int

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.low, self.high + 1))

    def __str__(self) -> str:
        if self.low > self.high:
            return "none"
        if self.high == _NO_UPPER_BOUND:
            return f"{self.low}+"
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


@cache
def parse_versions(text: str) -> Versions:
    """Read a range as Kafka's schemas write it."""
    if text == "none":
        return Versions(0, -1)
    if text.endswith("+"):
        return Versions(int(text[:-1]), _NO_UPPER_BOUND)
    low, _, high = text.partition("-")
    return Versions(int(low), int(high or low))
