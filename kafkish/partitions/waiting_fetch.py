"""A fetch that found too little: one entry, completed exactly once.

It is completed by enough bytes, by a partition that no longer answers as before (a new leader, a deletion, an error),
or by its deadline. While nothing happens it costs nothing: partitions tell it when there is something to look at. It
then looks when that is over: the producer whose records it waited for has its answer first.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kafkish.deferred import Deferred
from kafkish.partitions.errors import PartitionError
from kafkish.partitions.partition import Partition
from kafkish.partitions.watching import Watchable
from kafkish.timers import Timer, Timers


class Position(NamedTuple):
    """Where a fetch reads in one partition."""

    partition: Partition
    offset: int
    max_bytes: int
    available_bytes: int = 0


class WaitingFetch:
    """Waits from the moment that it is made."""

    def __init__(
        self, positions: Sequence[Position], min_bytes: int, committed: bool, max_wait_ms: int, timers: Timers
    ) -> None:
        self.enough: Deferred[None] = Deferred[None]().when_abandoned(self._stop)
        self._positions = {position.partition: position for position in positions}
        self._epochs = {position.partition: position.partition.role.leader_epoch for position in positions}
        self._sizes = {position.partition: position.available_bytes for position in positions}
        self._timers = timers
        self._moved: dict[Partition, None] = {}  # since it looked
        self._min_bytes = min_bytes
        self._committed = committed
        self._timer: Timer = timers.call_later(max_wait_ms, self._finish)
        for partition in self._positions:
            partition.watch(self)

    def notified(self, watched: Watchable) -> None:
        """A partition has moved."""
        assert isinstance(watched, Partition)
        is_first = not self._moved
        self._moved[watched] = None
        if is_first:
            self._timers.call_soon(self._look)

    def _look(self) -> None:
        """Count what the partitions that moved have for us now."""
        moved, self._moved = self._moved, {}
        if not self.enough.is_done and any(map(self._is_over, moved)):
            self._finish()

    def _is_over(self, partition: Partition) -> bool:
        if partition.role.leader_epoch != self._epochs[partition] or not partition.is_leader:
            return True
        try:
            _, offset, max_bytes, _ = self._positions[partition]
            records = partition.read(offset, max_bytes, committed=self._committed).records
        except PartitionError:
            return True
        self._sizes[partition] = 0 if records is None else records.length
        return sum(self._sizes.values()) >= self._min_bytes

    def _finish(self) -> None:
        if not self.enough.is_done:
            self._stop()
            self.enough.resolve(None)

    def _stop(self) -> None:
        self._moved = {}
        self._timer.cancel()
        for partition in self._positions:
            partition.unwatch(self)


def wait_for_bytes(
    positions: Sequence[Position],
    min_bytes: int,
    *,
    committed: bool,
    max_wait_ms: int,
    timers: Timers,
    on_end: Callable[[], object] = lambda: None,
) -> Deferred[None]:
    """Done when the partitions have enough to read, or something else to say, or the time is over."""
    enough = WaitingFetch(positions, min_bytes, committed, max_wait_ms, timers).enough
    enough.on_done(lambda _: on_end())
    return enough
