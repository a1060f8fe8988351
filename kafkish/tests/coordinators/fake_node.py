"""What the runtime gets from its node: a partition in memory, timers and a clock that stand still until told."""

import heapq
from collections.abc import Callable
from itertools import count

from kafkish.coordinators.inputs import Now
from kafkish.coordinators.shard_log import LogRefusedError
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.records import Batch, Record, assign_offset, read_batches


class FakeTimer:
    def __init__(self, action: Callable[[], object]) -> None:
        self.action = action
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class FakeTime:
    """Timers and the clock."""

    def __init__(self) -> None:
        self.now = Now(monotonic_ms=1_000, wall_ms=1_700_000_000_000)
        self._queue: list[tuple[float, int, FakeTimer]] = []
        self._order = count()

    def call_soon(self, action: Callable[[], object], /) -> None:
        action()

    def call_later(self, delay_ms: float, action: Callable[[], object], /) -> FakeTimer:
        assert delay_ms >= 0
        timer = FakeTimer(action)
        heapq.heappush(self._queue, (self.now.monotonic_ms + delay_ms, next(self._order), timer))
        return timer

    @property
    def pending(self) -> int:
        """Timers that would still do something."""
        return sum(not timer.is_cancelled for _, _, timer in self._queue)

    def advance(self, duration_ms: int) -> None:
        """Let time pass, and every timer fire at its moment."""
        end_ms = self.now.monotonic_ms + duration_ms
        while self._queue and self._queue[0][0] <= end_ms:
            due_ms, _, timer = heapq.heappop(self._queue)
            self._move(int(due_ms))
            if not timer.is_cancelled:
                timer.action()
        self._move(end_ms)

    def turn(self) -> None:
        """One turn of the loop: only what is due now, and not what that brings about."""
        due = []
        while self._queue and self._queue[0][0] <= self.now.monotonic_ms:
            due.append(heapq.heappop(self._queue)[2])
        for timer in due:
            if not timer.is_cancelled:
                timer.action()

    def _move(self, monotonic_ms: int) -> None:
        passed_ms = max(0, monotonic_ms - self.now.monotonic_ms)
        self.now = Now(self.now.monotonic_ms + passed_ms, self.now.wall_ms + passed_ms)


class FakeLog:
    """A `ShardLog`. The high watermark follows at once, or when `commit` is called."""

    def __init__(self, *, commits_at_once: bool = True) -> None:
        self.commits_at_once = commits_at_once
        self.start_offset = self.end_offset = self.high_watermark = 0
        self.max_batch_bytes = 1_048_588
        self.refuse_with: ErrorCode | None = None
        self.batches: list[bytes] = []
        self.listeners: list[Callable[[], object]] = []
        self.on_append: Callable[[], object] = lambda: None

    def append(self, batch: Batch, wall_ms: int, /) -> None:  # noqa: ARG002
        if self.refuse_with is not None:
            raise LogRefusedError(self.refuse_with)
        assert batch.crc_is_valid()
        self.add(bytes(batch.view))
        self.on_append()
        if self.commits_at_once:
            self.commit()

    def add(self, data: bytes, base_offset: int | None = None) -> None:
        """A batch at the end of the log, whoever wrote it."""
        stamped = bytearray(data)
        assign_offset(stamped, 0, self.end_offset if base_offset is None else base_offset, 0)
        self.batches.append(bytes(stamped))
        self.end_offset = Batch(stamped).next_offset

    def commit(self, end_offset: int | None = None) -> None:
        """Move the high watermark."""
        self.high_watermark = self.end_offset if end_offset is None else end_offset
        for listener in list(self.listeners):
            listener()

    def read(self, offset: int, max_bytes: int, /) -> bytes:
        found = b""
        for batch in self.batches:
            if Batch(batch).last_offset >= offset and (not found or len(found) + len(batch) <= max_bytes):
                found += batch
        return found

    def listen(self, listener: Callable[[], object], /) -> None:
        self.listeners.append(listener)

    def unlisten(self, listener: Callable[[], object], /) -> None:
        self.listeners.remove(listener)

    def records(self) -> list[Record]:
        """All of them."""
        return [record for batch in self.batches for record in next(read_batches(batch)).records()]
