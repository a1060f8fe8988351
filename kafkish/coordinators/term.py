"""One shard on one partition, from election to resignation: carries out what the shard wants done.

    LOADING   --the log is read-->  LEADING  --resign-->  OVER
        '------it cannot be read-->  FAILED  --resign-->  OVER

All that is asked of the shard goes through one queue of steps, since carrying out one effect may bring about the next
request: an answer frees its connection, an append wakes up a fetch. A step ends when all its effects are carried out
(`effects` has the contract), and only then does the next one begin.
"""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import Final, Generic, NamedTuple, TypeVar

from kafkish.coordinators.effects import Effect, Effects, Outcome, Reply, StoredRecord, Write
from kafkish.coordinators.inputs import Caller, Now
from kafkish.coordinators.loading import Loading
from kafkish.coordinators.records import RecordKinds, encode_record
from kafkish.coordinators.shard import Shard
from kafkish.coordinators.shard_log import LogRefusedError, ShardLog
from kafkish.coordinators.surroundings import Surroundings
from kafkish.deferred import Deferred
from kafkish.timers import Timer
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.records import Batch, Record, build_batch
from kafkish_protocol.schema import Request, Response

log = logging.getLogger("kafkish.coordinators")

S = TypeVar("S", bound=Shard)
Step = Callable[[Now], Effects]

_RECORDS_IN_A_SLICE: Final = 200  # a few milliseconds; then others have their turn
_REST_MS: Final = 1_000  # before a shard that failed is loaded again


@dataclass(frozen=True, slots=True)
class Kind(Generic[S]):
    """What tells one coordinator from another."""

    name: str
    make_shard: Callable[[], S]
    records: RecordKinds
    refuse: Callable[[Request, int, ErrorCode], Response]


class Phase(Enum):
    LOADING = auto()
    LEADING = auto()
    FAILED = auto()
    OVER = auto()


class _OpenWrite(NamedTuple):
    """A write that the log took and that is not committed yet."""

    end_offset: int
    outcome: Outcome
    due_ms: int


class Term(Generic[S]):
    """Makes the shard, loads it, and drives it."""

    def __init__(self, kind: Kind[S], index: int, shard_log: ShardLog, around: Surroundings) -> None:
        self._kind = kind
        self._name = f"{kind.name} {index}"
        self._log = shard_log
        self._settings, self._timers, self._now = around.settings, around.timers, around.now
        self._steps: deque[Step] = deque()
        self._is_running = False
        self._open_writes: deque[_OpenWrite] = deque()  # in the order of their offsets
        self._waiting: dict[Deferred[Response], tuple[Request, int]] = {}
        self._timer: Timer | None = None
        self._timer_due_ms = 0
        shard_log.listen(self._run)
        self._begin_to_load(delay_ms=0)
        if shard_log.start_offset == shard_log.end_offset:
            self._load_slice()

    @property
    def shard(self) -> S:
        return self._shard

    # -- loading

    def _begin_to_load(self, delay_ms: int) -> None:
        self.phase = Phase.LOADING
        self._shard = self._kind.make_shard()
        buffer_bytes = self._settings.load_buffer_bytes
        self._loading = Loading(self._log, self._kind.records, self._shard.replay, buffer_bytes)
        self._started_ms = self._now().monotonic_ms
        self._set_timer(delay_ms, self._load_slice)

    def _load_slice(self) -> None:
        self._stop_timer()
        try:
            is_loaded = self._loading.read_slice(_RECORDS_IN_A_SLICE)
        except Exception as error:
            self.phase = Phase.FAILED
            log.exception(
                "%s has no coordinator until the next election, its log cannot be read: %s", self._name, error
            )
            return
        if not is_loaded:
            self._set_timer(0, self._load_slice)
            return
        took_ms = self._now().monotonic_ms - self._started_ms
        log.info("%s: loaded %d records in %d ms", self._name, self._loading.record_count, took_ms)
        self.phase = Phase.LEADING
        self._steps.appendleft(self._shard.on_loaded)
        self._run()

    # -- what is asked of it

    def handle(self, request: Request, api_version: int, client_id: str, client_host: str) -> Deferred[Response]:
        """Ask the shard; the answer comes when it cannot be lost any more."""
        if self.phase is not Phase.LEADING:
            loading = self.phase is Phase.LOADING
            error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if loading else ErrorCode.NOT_COORDINATOR
            return Deferred.of(self._kind.refuse(request, api_version, error))
        answer: Deferred[Response] = Deferred()
        self._waiting[answer] = (request, api_version)
        self._steps.append(partial(self._ask, request, Caller(answer, api_version, client_id, client_host)))
        self._run()
        return answer

    def do(self, step: Callable[[S, Now], Effects]) -> None:
        """Have something else done by the shard, when it is loaded."""
        self._steps.append(lambda now: step(self._shard, now))
        self._run()

    def resign(self) -> None:
        """The partition is led elsewhere: everyone who waits is told so."""
        was_leading, self.phase = self.phase is Phase.LEADING, Phase.OVER
        self._log.unlisten(self._run)
        self._stop_timer()
        self._steps.clear()
        if was_leading:
            self._steps.append(self._shard.on_resigned)
            self._run()

    def _ask(self, request: Request, caller: Caller, now: Now) -> Effects:
        try:
            return self._shard.handle(request, caller, now)
        except Exception:  # whatever it is, it must not take others' groups along
            log.exception("%s: a request of %s (%s) failed", self._name, caller.client_id, caller.client_host)
            refusal = self._kind.refuse(request, caller.api_version, ErrorCode.UNKNOWN_SERVER_ERROR)
            return [Reply(caller.handle, refusal)]

    # -- one step after the other

    def _run(self) -> None:
        if self._is_running or self.phase not in (Phase.LEADING, Phase.OVER):
            return
        self._is_running = True
        try:
            while step := self._next_step():
                now = self._now()
                self._carry_out(step(now), now)
        except Exception:
            log.exception("%s failed and is loaded again from its log", self._name)
            self._start_anew()
        finally:
            self._is_running = False
        if self.phase is Phase.LEADING:
            self._set_alarm()
        else:
            self._send_away()

    def _next_step(self) -> Step | None:
        writes = self._open_writes
        if writes and self.phase is Phase.LEADING and writes[0].end_offset <= self._log.high_watermark:
            return writes.popleft().outcome.committed
        if self._steps:
            return self._steps.popleft()
        if self.phase is Phase.OVER and writes:
            return partial(writes.popleft().outcome.failed, ErrorCode.NOT_COORDINATOR)
        return None

    def _start_anew(self) -> None:
        """The log is right, and the shard is not: forget the shard."""
        self._steps.clear()
        self._open_writes.clear()
        self._stop_timer()
        if self.phase is Phase.LEADING:
            self._begin_to_load(_REST_MS)

    def _send_away(self) -> None:
        """Whoever the shard has not answered is answered here."""
        for answer, (request, api_version) in list(self._waiting.items()):
            self._answer(Reply(answer, self._kind.refuse(request, api_version, ErrorCode.NOT_COORDINATOR)))

    # -- effects

    def _carry_out(self, effects: Effects, now: Now) -> None:
        queue: deque[Effect] = deque(effects)
        while queue:
            effect = queue.popleft()
            if isinstance(effect, Reply):
                self._answer(effect)
            else:
                queue.extendleft(reversed(self._write(effect, now)))

    def _answer(self, reply: Reply) -> None:
        assert isinstance(reply.handle, Deferred)
        del self._waiting[reply.handle]
        try:
            reply.handle.resolve(reply.response)
        except Exception:
            log.exception("%s: an answer could not be delivered", self._name)

    def _write(self, write: Write, now: Now) -> Effects:
        """Append and replay; what follows at once if that is not possible."""
        if self.phase is Phase.OVER:
            return write.outcome.failed(ErrorCode.NOT_COORDINATOR, now)
        if write.records:
            try:
                self._append(write.records, now)
            except LogRefusedError as refusal:
                return write.outcome.failed(refusal.code, now)
            for record in write.records:
                self._shard.replay(record.key, record.value)
        due_ms = now.monotonic_ms + self._settings.write_timeout_ms
        self._open_writes.append(_OpenWrite(self._log.end_offset, write.outcome, due_ms))
        return []

    def _append(self, records: tuple[StoredRecord, ...], now: Now) -> None:
        encoded = (encode_record(record) for record in records)
        stamped = [Record(i, now.wall_ms, key, value) for i, (key, value) in enumerate(encoded)]
        batch = Batch(build_batch(stamped, compression=self._settings.compression, base_sequence=0))
        if batch.size_bytes > self._log.max_batch_bytes:
            raise LogRefusedError(ErrorCode.MESSAGE_TOO_LARGE)
        self._log.append(batch, now.wall_ms)

    # -- time

    def _set_alarm(self) -> None:
        """Be woken up when something is due. A timer that stands may be early, never late."""
        due_ms = self._shard.next_deadline_ms()
        if self._open_writes and (due_ms is None or self._open_writes[0].due_ms < due_ms):
            due_ms = self._open_writes[0].due_ms
        if due_ms is None or (self._timer and self._timer_due_ms <= due_ms):
            return
        self._stop_timer()
        self._timer_due_ms = due_ms
        self._set_timer(max(0, due_ms - self._now().monotonic_ms), self._wake)

    def _wake(self) -> None:
        self._timer = None
        now_ms = self._now().monotonic_ms
        while self._open_writes and self._open_writes[0].due_ms <= now_ms:
            self._steps.append(partial(self._open_writes.popleft().outcome.failed, ErrorCode.REQUEST_TIMED_OUT))
        self._steps.append(self._shard.tick)
        self._run()

    def _set_timer(self, delay_ms: int, action: Callable[[], None]) -> None:
        self._timer = self._timers.call_later(delay_ms, action)

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
