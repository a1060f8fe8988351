"""The active controller of the metadata quorum: runs operations, writes their records, answers when they are committed.

    inactive    another node leads, or nobody: every request is refused with NOT_CONTROLLER
    active      this node leads, and has replayed all that was committed before its epoch

While active it keeps the pending image: what is committed, and on top of it what it has written since. An operation
runs on that, so that it sees those before it. Its answer waits until all that it has seen or written is committed. If
the leadership is lost before, nobody knows whether it will be, and whoever waits is told NOT_CONTROLLER.

Kafka's controller also writes a NoOpRecord twice a second, by which it sees in its own metrics that it can still
commit. This one does not: the log of an idle cluster does not grow.
"""

import logging
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, Final, NamedTuple

from kafkish.controller.bootstrap import activation_records
from kafkish.controller.operation import ApiError, Context, Result, Settings, allow_all, charge_nothing, random_uuid
from kafkish.controller.operations import Operation
from kafkish.controller.ports import Authorize, ConfigPort
from kafkish.controller.sessions import Sessions
from kafkish.deferred import Deferred
from kafkish.metadata import versions
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.loader import MetadataLoader
from kafkish.quorum.batching import plan_batches
from kafkish.quorum.formatting import FirstRecords
from kafkish.quorum.quorum import Quorum
from kafkish.quorum.telling import tell
from kafkish.quorum.turns import Turns
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kafkish_protocol.messages.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse
from kafkish_protocol.messages.unregister_broker import UnregisterBrokerRequest
from kafkish_protocol.schema import MetadataRecord, Request, Response
from kafkish_protocol.types import Uuid
from kafkish_raft.effects import LeaderChanged

_log: Final = logging.getLogger(__name__)

MAX_WAITING: Final = 100_000
"""Requests that wait to be committed; more are refused until the disk has caught up."""
_MANY_RECORDS: Final = 2_000
"""To decide, to encode and to replay more takes a turn of the loop each."""


class Caller(NamedTuple):
    """Who asks, and what they may do."""

    api_version: int
    authorize: Authorize = allow_all
    charge_partitions: Callable[[int], None] = charge_nothing
    through_broker: bool = True
    deadline_ms: int | None = None
    """When the request is to be refused, if it still waits for its turn: on the monotonic clock."""


class _Waiting(NamedTuple):
    """An answer, and up to where the log must be applied before it may leave."""

    end_offset: int
    response: Any
    answer: Deferred[Any]


class ControllerRuntime:
    """One for each node that can lead. Owner's thread."""

    def __init__(
        self,
        quorum: Quorum,
        settings: Settings,
        configs: ConfigPort,
        first_records: FirstRecords,
        *,
        incarnation_id: Uuid,
        session_timeout_ms: int,
    ) -> None:
        """`incarnation_id` is the local broker's: an older registration of this node is known to be dead."""
        self.quorum = quorum
        self.settings = settings
        self.sessions = Sessions(session_timeout_ms)
        self.incarnation_id = incarnation_id
        self.on_active: list[Callable[[], object]] = []
        self.on_inactive: list[Callable[[], object]] = []
        self._configs = configs
        self._first_records = first_records
        self._claimed: LeaderChanged | None = None  # leader, but not active before all is replayed
        self._epoch: int | None = None
        self._pending = MetadataLoader()
        self._waiting: deque[_Waiting] = deque()
        self._turns = Turns(quorum.timers)
        quorum.on_leader_changed.append(self._on_leader_changed)
        quorum.follower.on_applied.append(self._on_applied)
        quorum.on_failure.append(self._on_failure)

    @property
    def is_active(self) -> bool:
        return self._epoch is not None

    @property
    def image(self) -> MetadataImage:
        """The pending image of an active controller."""
        return self._pending.image

    # -- requests

    def submit(self, operation: Operation, request: Request, caller: Caller) -> Deferred[Any]:
        """Run an operation; its response, once all that it has seen and written is committed.

        Fails with ApiError: NOT_CONTROLLER where this node is not the active controller, REQUEST_TIMED_OUT after the
        caller's deadline.
        """
        answer: Deferred[Any] = Deferred()
        self._turns.add(self._serve(operation, request, caller, answer))
        return answer

    def _serve(self, operation: Operation, request: Request, caller: Caller, answer: Deferred[Any]) -> Iterator[None]:
        """No other operation runs before this one's records are in the pending image: it has seen all before it."""
        try:
            self._refuse(caller)
            self._note_arrival(request)
            result = operation(self._pending.image, request, self._context(caller))
            if not (yield from self._write(result)):
                raise self._not_controller()
        except ApiError as error:
            tell(answer.fail, error)
        except Exception as error:  # of an operation, or of a record that can not be encoded; nothing was written
            _log.exception("%s of the controller failed", getattr(operation, "__name__", operation))
            tell(answer.fail, error)
        else:
            self._note_answer(request, result.response)
            self._answer_when_committed(result.response, answer)

    def _refuse(self, caller: Caller) -> None:
        if self._epoch is None:
            raise self._not_controller()
        if len(self._waiting) >= MAX_WAITING:
            raise ApiError(ErrorCode.REQUEST_TIMED_OUT, "The controller's disk can not keep up; try again")
        if caller.deadline_ms is not None and caller.deadline_ms <= self.quorum.clock.monotonic_ms():
            raise ApiError(ErrorCode.REQUEST_TIMED_OUT)

    def write(self, periodic: Callable[[MetadataImage, Context], list[MetadataRecord]]) -> int:
        """Something that the controller does by itself. How many records it wrote; -1 if it is busy."""
        if self._epoch is None:
            return 0
        if self._turns:
            return -1
        records = periodic(self._pending.image, self._context(Caller(api_version=0)))
        self._turns.add(self._write(Result(records, None, atomic=False)))
        return len(records)

    def _context(self, caller: Caller) -> Context:
        return Context(
            settings=self.settings,
            configs=self._configs,
            dice=self.quorum.dice,
            new_uuid=lambda: random_uuid(self.quorum.dice.randbytes),
            api_version=caller.api_version,
            now_ms=self.quorum.clock.monotonic_ms(),
            next_offset=self.quorum.log.end_offset,
            kraft_version=self.quorum.raft.history.version,
            sessions=self.sessions,
            authorize=caller.authorize,
            charge_partitions=caller.charge_partitions,
            through_broker=caller.through_broker,
        )

    def _write(self, result: Result[Any]) -> Generator[None, None, bool]:
        """Add the records to the pending image and append them to the log. False if another node leads."""
        epoch, takes_long = self._epoch, len(result.records) > _MANY_RECORDS
        level = self._pending.image.features.metadata_version or self._first_level
        now_ms = self.quorum.clock.wall_ms()
        if takes_long:
            yield
        planned = plan_batches(result.records, level, atomic=result.atomic, now_ms=now_ms)
        if takes_long:
            yield
        if epoch is None or epoch != self._epoch or not planned:
            return epoch is not None and epoch == self._epoch
        self._replay([records for records, _ in planned], epoch, now_ms)
        return self.quorum.append([batch for _, batch in planned], epoch)

    def _replay(self, parts: list[Sequence[MetadataRecord]], epoch: int, now_ms: int) -> None:
        """Before anything is written: what can not be replayed must never be in the log. Then the image is in doubt."""
        base_offset = self.quorum.log.end_offset
        try:
            for records in parts:
                self._pending.load_batch(records, base_offset=base_offset, epoch=epoch, timestamp_ms=now_ms)
                base_offset += len(records)
        except Exception:
            self.quorum.resign(epoch)
            raise

    @property
    def _first_level(self) -> int:
        return self._first_records.levels[versions.METADATA_VERSION]

    def _answer_when_committed(self, response: Any, answer: Deferred[Any]) -> None:
        """Whatever it has read may be uncommitted too: so the end of the log counts, not the last record of its own."""
        end_offset = self._pending.image.provenance.offset + 1
        if end_offset <= self.quorum.follower.applied_offset:
            tell(answer.resolve, response)
        else:
            self._waiting.append(_Waiting(end_offset, response, answer))

    # -- brokers that are heard of

    def _note_arrival(self, request: Request) -> None:
        if isinstance(request, BrokerHeartbeatRequest):
            broker = self._pending.image.brokers.get(request.broker_id)
            if broker is not None and broker.epoch == request.broker_epoch:
                self.sessions.touch(broker.id, broker.epoch, self.quorum.clock.monotonic_ms())

    def _note_answer(self, request: Request, response: Response) -> None:
        now_ms = self.quorum.clock.monotonic_ms()
        match request, response:
            case BrokerHeartbeatRequest(), BrokerHeartbeatResponse(error_code=0):
                self.sessions.heard(request, response, self.quorum.log.end_offset, now_ms)
            case BrokerRegistrationRequest(), BrokerRegistrationResponse(error_code=0):
                self.sessions.touch(request.broker_id, response.broker_epoch, now_ms)
            case UnregisterBrokerRequest(), _ if request.broker_id not in self._pending.image.brokers:
                self.sessions.forget(request.broker_id)

    # -- leadership

    def _on_leader_changed(self, change: LeaderChanged) -> None:
        self._deactivate(self._not_controller())
        self._claimed = change if change.start_offset is not None else None
        self._activate_if_ready()

    def _on_applied(self, applied_offset: int) -> None:
        self._activate_if_ready()
        while self._waiting and self._waiting[0].end_offset <= applied_offset:
            _, response, answer = self._waiting.popleft()
            if not answer.is_done:
                tell(answer.resolve, response)

    def _on_failure(self, reason: str) -> None:
        self._claimed = None
        self._deactivate(ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, reason))

    def _activate_if_ready(self) -> None:
        claimed, follower = self._claimed, self.quorum.follower
        if claimed is None or claimed.start_offset is None or follower.applied_offset < claimed.start_offset:
            return
        self._claimed, self._epoch = None, claimed.epoch
        self._pending = MetadataLoader(follower.image)
        self._pending.transaction_offset = follower.transaction_offset
        self._write_first_records(is_open=follower.transaction_offset is not None)
        own = self.image.brokers.get(self.settings.node_id)
        dead = {own.id} if own is not None and own.incarnation_id != self.incarnation_id else ()
        self.sessions.activate(self.image, self.quorum.clock.monotonic_ms(), dead)
        for listener in list(self.on_active):
            tell(listener)

    def _write_first_records(self, *, is_open: bool) -> None:
        levels, more = self._first_records
        records = activation_records(self.image, is_open, levels, self._configs.static_min_isr, more)
        for _ in self._write(Result(records, None)):
            continue  # without turns: nothing else can be decided before

    def _deactivate(self, error: ApiError) -> None:
        was_active, self._epoch = self.is_active, None
        waiting, self._waiting = self._waiting, deque()
        for _, _, answer in waiting:
            if not answer.is_done:
                tell(answer.fail, error)
        for listener in list(self.on_inactive) if was_active else ():
            tell(listener)

    def _not_controller(self) -> ApiError:
        if self.quorum.failure is not None:
            return ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, self.quorum.failure)
        leader = self.quorum.leader_id
        known = (
            "No controller appears to be active."
            if leader is None
            else f"The active controller appears to be node {leader}."
        )
        return ApiError(ErrorCode.NOT_CONTROLLER, known)
