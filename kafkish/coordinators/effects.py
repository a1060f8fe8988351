"""What a coordinator wants done, as data. The caller carries effects out in order, each before the next.

`Reply`   Send the response. No handle gets two.

`Write`   Append the records to the shard's log as one batch, before anything else is asked of the shard. Then either
          - the log refuses them: nothing is replayed, and `outcome.failed(error)` says what happens instead; or
          - the log takes them: `replay` each one on the shard, in order and at once, so that the next decision sees it.
            When the high watermark has passed them, `outcome.committed()` says what happens next. When that takes too
            long, `outcome.failed(REQUEST_TIMED_OUT)`: the records stay, in the log and in the shard.
          A record that the log took is never undone: it is committed, or the node loses the partition and with it the
          whole shard. Of each outcome exactly one method is called, once. When the shard resigns, outcomes that are
          still open fail with NOT_COORDINATOR, after the effects of `on_resigned`.
          A write without records is a barrier: it is committed when all that was appended before it is. Reads use it:
          they see the newest state, and are answered once that state cannot be lost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from kafkish.coordinators.inputs import Now
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.schema import CoordinatorKey, CoordinatorValue, Response

TOMBSTONE_VERSION = -1


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record of a coordinator's log: what `replay` gets, and the version in which its value is written."""

    key: CoordinatorKey
    value: CoordinatorValue | None  # None is a tombstone
    value_version: int = TOMBSTONE_VERSION


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer a request."""

    handle: object
    response: Response


class Outcome(Protocol):
    """What follows a write."""

    def committed(self, now: Now) -> "Effects":
        """The records can no longer be lost."""
        ...

    def failed(self, error: ErrorCode, now: Now) -> "Effects":
        """The records were refused, or nobody knows yet whether they stay."""
        ...


@dataclass(frozen=True, slots=True)
class Write:
    """Append records, replay them, and report."""

    records: tuple[StoredRecord, ...]
    outcome: Outcome


Effect: TypeAlias = Reply | Write
Effects: TypeAlias = list[Effect]


@dataclass(frozen=True, slots=True)
class ReplyWhenCommitted:
    """The common outcome: one response if the write is committed, another if it is not."""

    handle: object
    response: Response
    refuse: Callable[[ErrorCode], Response]

    def committed(self, now: Now) -> Effects:  # noqa: ARG002  # nothing here depends on time
        return [Reply(self.handle, self.response)]

    def failed(self, error: ErrorCode, now: Now) -> Effects:  # noqa: ARG002
        return [Reply(self.handle, self.refuse(error_for_clients(error)))]


class Unobserved:
    """The outcome of a write that nobody waits for: should it fail, it is decided again later."""

    def committed(self, now: Now) -> Effects:  # noqa: ARG002
        return []

    def failed(self, error: ErrorCode, now: Now) -> Effects:  # noqa: ARG002
        return []


class Outbox:
    """Collects the effects of one call."""

    def __init__(self) -> None:
        self._effects: Effects = []

    def reply(self, handle: object, response: Response) -> None:
        self._effects.append(Reply(handle, response))

    def write(self, records: Sequence[StoredRecord], outcome: Outcome) -> None:
        self._effects.append(Write(tuple(records), outcome))

    def drain(self) -> Effects:
        """All effects since the last call, in order."""
        drained, self._effects = self._effects, []
        return drained


def error_for_clients(error: ErrorCode) -> ErrorCode:
    """What a client is told when a coordinator's write fails: errors of the log mean nothing to it."""
    match error:
        case ErrorCode.UNKNOWN_TOPIC_OR_PARTITION | ErrorCode.NOT_ENOUGH_REPLICAS | ErrorCode.REQUEST_TIMED_OUT:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        case ErrorCode.NOT_LEADER_OR_FOLLOWER | ErrorCode.KAFKA_STORAGE_ERROR:
            return ErrorCode.NOT_COORDINATOR
        case ErrorCode.MESSAGE_TOO_LARGE | ErrorCode.RECORD_LIST_TOO_LARGE | ErrorCode.INVALID_FETCH_SIZE:
            return ErrorCode.UNKNOWN_SERVER_ERROR
        case _:
            return error
