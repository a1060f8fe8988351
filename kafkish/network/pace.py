"""Whether a peer that owes us something goes on with it: the rest of a frame, or taking its replies."""

from typing import Final

LEAST_BYTES_PER_S: Final = 1024


class Pace:
    """Compares what has moved now with what had moved a while ago. Asked now and then; costs nothing in between."""

    __slots__ = ("_moved_bytes", "_since_s", "_what")

    def __init__(self) -> None:
        self._what: int | None = None
        self._moved_bytes = 0
        self._since_s = 0.0

    def is_too_slow(self, moved_bytes: int, what: int | None, now_s: float, patience_s: float) -> bool:
        """`what` tells one debt from the next; None if nothing is owed."""
        if what is None or what != self._what:
            self._begin(moved_bytes, what, now_s)
            return False
        gone_s = now_s - self._since_s
        if gone_s < patience_s:
            return False
        is_slow = moved_bytes - self._moved_bytes < LEAST_BYTES_PER_S * gone_s
        self._begin(moved_bytes, what, now_s)
        return is_slow

    def _begin(self, moved_bytes: int, what: int | None, now_s: float) -> None:
        self._what, self._moved_bytes, self._since_s = what, moved_bytes, now_s
