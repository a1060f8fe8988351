"""Crashes: the process is gone after the n-th change of its disk."""

from collections.abc import Iterator
from contextlib import contextmanager

from kafkish_storage.files.memory import MemoryFiles


class Crash(BaseException):
    """Nothing in the product catches it."""


@contextmanager
def crash_after(files: MemoryFiles, changes: int) -> Iterator[None]:
    left = changes

    def count(_operation: str, _path: str) -> None:
        nonlocal left
        if left == 0:
            raise Crash
        left -= 1

    files.on_change = count
    try:
        yield
    finally:
        files.on_change = None
