"""Waiting for a condition, with a deadline. Tests never sleep for luck."""

import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


def until(condition: Callable[[], Value], what: str, timeout_s: float = 30) -> Value:
    """The condition's first true value. Says what was awaited, and the last value, when the deadline passes."""
    deadline = time.monotonic() + timeout_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what}: not within {timeout_s} s; last seen: {value!r}"
        time.sleep(0.02)
    return value


def now_ms() -> int:
    return int(time.time() * 1000)
