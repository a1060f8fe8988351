"""Fetch sessions (KIP-227): a consumer names its partitions once, then only what changes.

A session is a list of partitions that both sides remember. Its epoch grows with each request; a request with the wrong
id or epoch gets an error and starts again. The table of sessions is bounded: a new session takes the place of one that
has been idle, or is refused and the client goes on without.

    request's epoch   session id   what happens
    -1                any          no session; the one with this id, if any, ends
    0                 any          a new session, the one with this id ends; id 0 in the answer means: refused
    n > 0             known, n is its next epoch   incremental
    n > 0             unknown      FETCH_SESSION_ID_NOT_FOUND
    n > 0             other epoch  INVALID_FETCH_SESSION_EPOCH
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.fetch import FetchPartition, FetchRequest, PartitionData
from kafkish_protocol.types import Uuid

NO_SESSION: Final = 0
INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
_TOPIC_IDS_SINCE_VERSION: Final = 13
UNKNOWN: Final = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID)
_MAX_EPOCH: Final = 2**31 - 1


class Wanted(NamedTuple):
    """A partition of a fetch: by name before version 13, by id since."""

    topic: str
    topic_id: Uuid
    partition: int


@dataclass(slots=True)
class _Remembered:
    """A partition of a session: what the client wants of it, and what it was last told."""

    request: FetchPartition
    topic: str | None  # its name when it was added, also where it goes by id
    high_watermark: int = -1
    log_start_offset: int = -1


@dataclass(slots=True)
class FetchSession:
    """What both sides remember."""

    id: int
    uses_topic_ids: bool
    created_ms: int
    last_used_ms: int
    epoch: int = INITIAL_EPOCH + 1
    partitions: OrderedDict[Wanted, _Remembered] = field(default_factory=OrderedDict)


@dataclass(slots=True)
class FetchPlan:
    """What a request asks for, the session applied. `error` set: answer with it and nothing else."""

    wanted: list[tuple[Wanted, FetchPartition]]
    session: FetchSession | None = None
    is_incremental: bool = False
    error: ErrorCode = ErrorCode.NONE

    @property
    def session_id(self) -> int:
        return NO_SESSION if self.session is None else self.session.id

    def answers(self, results: Iterable[tuple[Wanted, PartitionData]]) -> list[tuple[Wanted, PartitionData]]:
        """Which results go into the answer; remembers what the client is told.

        An incremental answer leaves out partitions of which there is nothing new. One that gave records goes to the
        end of the list, so that each has its turn when the answer is limited. In a new session, the unknown are last.
        """
        if self.session is None:
            return list(results)
        answered = []
        for wanted, result in results:
            remembered = self.session.partitions.get(wanted)
            if remembered is None or not self.is_incremental or _is_news(remembered, result):
                answered.append((wanted, result))
            if remembered is not None:
                self._remember(wanted, remembered, result)
        return answered

    def former_name(self, wanted: Wanted) -> str | None:
        """What a topic that goes by id was called when it came into the session."""
        remembered = None if self.session is None else self.session.partitions.get(wanted)
        return None if remembered is None else remembered.topic

    def has_news(self, wanted: Wanted, result: PartitionData) -> bool:
        """Whether `answers` would include this result; changes nothing."""
        remembered = None if self.session is None else self.session.partitions.get(wanted)
        return remembered is None or not self.is_incremental or _is_news(remembered, result)

    def _remember(self, wanted: Wanted, remembered: _Remembered, result: PartitionData) -> None:
        assert self.session is not None
        remembered.high_watermark = result.high_watermark
        remembered.log_start_offset = result.log_start_offset
        if result.error_code != ErrorCode.NONE:
            remembered.high_watermark = -1  # so that the next answer includes the partition again
        if bool(result.records) if self.is_incremental else result.error_code in UNKNOWN:
            self.session.partitions.move_to_end(wanted)


def _is_news(remembered: _Remembered, result: PartitionData) -> bool:
    return (
        bool(result.records)
        or result.error_code != ErrorCode.NONE
        or result.high_watermark != remembered.high_watermark
        or result.log_start_offset != remembered.log_start_offset
        or result.preferred_read_replica != -1
        or result.diverging_epoch.epoch != -1
    )


class FetchSessions:
    """All sessions of a broker."""

    def __init__(
        self,
        max_sessions: int,
        eviction_ms: int,
        make_id: Callable[[], int],
        topic_name: Callable[[Uuid], str | None] = lambda _: None,
    ) -> None:
        """`make_id` gives a random positive number; a session idle for `eviction_ms` may lose its place."""
        self._max_sessions = max_sessions
        self._eviction_ms = eviction_ms
        self._make_id = make_id
        self._topic_name = topic_name
        self._sessions: OrderedDict[int, FetchSession] = OrderedDict()  # the one used longest ago first

    def __len__(self) -> int:
        return len(self._sessions)

    def plan(self, request: FetchRequest, version: int, now_ms: int) -> FetchPlan:
        """Apply a request to its session."""
        asked = [
            (Wanted(topic.topic, topic.topic_id, partition.partition), partition)
            for topic in request.topics
            for partition in topic.partitions
        ]
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(request.session_id, None)
            if request.session_epoch == FINAL_EPOCH:
                return FetchPlan(asked)
            return FetchPlan(asked, self._create(asked, version, now_ms))
        return self._continue(request, asked, version, now_ms)

    def _continue(
        self, request: FetchRequest, asked: list[tuple[Wanted, FetchPartition]], version: int, now_ms: int
    ) -> FetchPlan:
        session = self._sessions.get(request.session_id)
        if session is None:
            return FetchPlan([], error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != request.session_epoch:
            return FetchPlan([], error=ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.uses_topic_ids != (version >= _TOPIC_IDS_SINCE_VERSION):
            return FetchPlan([], error=ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        for wanted, partition in asked:
            remembered = session.partitions.get(wanted)
            if remembered is None:
                session.partitions[wanted] = self._remembered(wanted, partition)
            else:
                remembered.request = partition
        for topic in request.forgotten_topics_data:
            for index in topic.partitions:
                session.partitions.pop(Wanted(topic.topic, topic.topic_id, index), None)
        if not session.partitions:
            del self._sessions[session.id]
            return FetchPlan(asked)
        session.epoch = 1 if session.epoch == _MAX_EPOCH else session.epoch + 1
        session.last_used_ms = now_ms
        self._sessions.move_to_end(session.id)
        wanted_now = [(wanted, remembered.request) for wanted, remembered in session.partitions.items()]
        return FetchPlan(wanted_now, session, is_incremental=True)

    def _create(self, asked: list[tuple[Wanted, FetchPartition]], version: int, now_ms: int) -> FetchSession | None:
        if len(self._sessions) >= self._max_sessions and not self._evict(now_ms):
            return None
        session_id = self._make_id()
        while session_id in self._sessions or session_id == NO_SESSION:
            session_id = self._make_id()
        session = FetchSession(session_id, version >= _TOPIC_IDS_SINCE_VERSION, now_ms, now_ms)
        for wanted, partition in asked:
            session.partitions[wanted] = self._remembered(wanted, partition)
        self._sessions[session_id] = session
        return session

    def _remembered(self, wanted: Wanted, partition: FetchPartition) -> _Remembered:
        return _Remembered(partition, wanted.topic or self._topic_name(wanted.topic_id))

    def _evict(self, now_ms: int) -> bool:
        """Make room by dropping the session that was used longest ago, if that is long enough."""
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None or now_ms - oldest.last_used_ms <= self._eviction_ms:
            return False
        del self._sessions[oldest.id]
        return True
