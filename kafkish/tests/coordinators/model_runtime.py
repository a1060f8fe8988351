"""A runtime of a few lines for one shard: its log is a list, its clock stands still until told, its wire is a dict.

It is the model of the real one: it carries effects out exactly as `effects` and `shard` say, and fails the test if a
shard breaks its side.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from kafkish.coordinators.effects import Effect, Effects, Outcome, Reply, StoredRecord
from kafkish.coordinators.inputs import Caller, Now
from kafkish.coordinators.records import RecordKinds, decode_record, encode_record
from kafkish.coordinators.shard import Shard
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.schema import Request, Response


@dataclass(slots=True)
class OpenWrite:
    """A write that the log took and that is not committed yet."""

    end_offset: int
    outcome: Outcome


class ModelRuntime:
    """Drives a shard through terms of leadership on one log."""

    def __init__(self, make_shard: Callable[[], Shard], kinds: RecordKinds, *, commits_at_once: bool = True) -> None:
        self.make_shard = make_shard
        self.kinds = kinds
        self.commits_at_once = commits_at_once
        self.refuse_writes_with: ErrorCode | None = None
        self.now = Now(monotonic_ms=1_000, wall_ms=1_700_000_000_000)
        self.log: list[tuple[bytes, bytes | None]] = []
        self.written: list[StoredRecord] = []
        self.largest_write = 0
        self.high_watermark = 0
        self.open_writes: deque[OpenWrite] = deque()
        self.requests: dict[int, tuple[Request, int]] = {}
        self.replies: dict[int, Response] = {}
        self.after_tick: Callable[[], None] = lambda: None
        self._handles = count(1)
        self.elect()

    # -- terms

    def elect(self, end_offset: int | None = None) -> None:
        """Begin a term: a new shard learns all from the log's bytes. The new leader may lack what was not committed."""
        end_offset = len(self.log) if end_offset is None else end_offset
        assert end_offset >= self.high_watermark, "what was committed is never lost"
        del self.log[end_offset:], self.written[end_offset:]
        self.high_watermark = end_offset
        self.shard = self.replayed()
        self.perform(self.shard.on_loaded(self.now))

    def replayed(self) -> Shard:
        """A fresh shard that has read the log."""
        shard = self.make_shard()
        for key, value in self.log:
            if decoded := decode_record(self.kinds, key, value):
                shard.replay(*decoded)
        return shard

    def resign(self) -> None:
        """End the term: first those who wait inside are answered, then those who wait for the log."""
        self.perform(self.shard.on_resigned(self.now))
        while self.open_writes:
            self.perform(self.open_writes.popleft().outcome.failed(ErrorCode.NOT_COORDINATOR, self.now))

    def restart(self) -> None:
        """Lose the shard and read the log again."""
        self.resign()
        self.elect()

    # -- the wire

    def send(self, request: Request, version: int, client_id: str = "client", host: str = "127.0.0.1") -> int:
        """Hand a request in; its handle names the reply."""
        handle = next(self._handles)
        self.requests[handle] = (request, version)
        caller = Caller(handle=handle, api_version=version, client_id=client_id, client_host=host)
        self.perform(self.shard.handle(request, caller, self.now))
        self._tick_if_due()
        return handle

    def reply_to(self, handle: int) -> Response | None:
        """The reply, if there is one already."""
        return self.replies.get(handle)

    @property
    def waiting(self) -> set[int]:
        """Handles without a reply."""
        return self.requests.keys() - self.replies.keys()

    # -- the clock

    def advance(self, duration_ms: int) -> None:
        """Let time pass, and every timer fire at its moment."""
        end_ms = self.now.monotonic_ms + duration_ms
        while (due_ms := self.shard.next_deadline_ms()) is not None and due_ms <= end_ms:
            self._move_clock(max(due_ms, self.now.monotonic_ms))
            self.perform(self.shard.tick(self.now))
            self.after_tick()
        self._move_clock(end_ms)

    def step_wall_clock(self, by_ms: int) -> None:
        """An operator sets the clock."""
        self.now = self.now._replace(wall_ms=self.now.wall_ms + by_ms)

    def _move_clock(self, monotonic_ms: int) -> None:
        passed_ms = monotonic_ms - self.now.monotonic_ms
        self.now = Now(monotonic_ms, self.now.wall_ms + passed_ms)

    def _tick_if_due(self) -> None:
        due_ms = self.shard.next_deadline_ms()
        if due_ms is not None and due_ms <= self.now.monotonic_ms:
            self.perform(self.shard.tick(self.now))

    # -- the log

    def commit(self, end_offset: int | None = None) -> None:
        """Move the high watermark."""
        self.high_watermark = len(self.log) if end_offset is None else end_offset
        while self.open_writes and self.open_writes[0].end_offset <= self.high_watermark:
            self.perform(self.open_writes.popleft().outcome.committed(self.now))
        self._tick_if_due()

    def time_out_writes(self) -> None:
        """The followers are too slow: whoever waits is told so. The records stay."""
        open_writes, self.open_writes = self.open_writes, deque()
        for write in open_writes:
            self.perform(write.outcome.failed(ErrorCode.REQUEST_TIMED_OUT, self.now))

    def _append(self, records: tuple[StoredRecord, ...]) -> None:
        self.largest_write = max(self.largest_write, len(records))
        for record in records:
            key, value = encode_record(record)
            assert decode_record(self.kinds, key, value) == (record.key, record.value), "the log says what replay got"
            self.log.append((key, value))
            self.written.append(record)
            self.shard.replay(record.key, record.value)

    def perform(self, effects: Effects) -> None:
        """Carry effects out."""
        queue: deque[Effect] = deque(effects)
        while queue:
            effect = queue.popleft()
            if isinstance(effect, Reply):
                self._answer(effect)
            elif self.refuse_writes_with is not None and effect.records:
                queue.extendleft(reversed(effect.outcome.failed(self.refuse_writes_with, self.now)))
            else:
                self._append(effect.records)
                self.open_writes.append(OpenWrite(len(self.log), effect.outcome))
        if self.open_writes and (self.commits_at_once or self.open_writes[0].end_offset <= self.high_watermark):
            self.commit(None if self.commits_at_once else self.high_watermark)

    def _answer(self, reply: Reply) -> None:
        assert isinstance(reply.handle, int), "a handle that nobody gave out"
        assert reply.handle not in self.replies, f"request {self.requests[reply.handle]} is answered twice"
        _, version = self.requests[reply.handle]
        self.replies[reply.handle] = type(reply.response).decode(reply.response.encode(version), version)
