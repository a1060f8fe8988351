"""What every coordinator's shard offers to whoever drives it.

A shard lives for one term of leadership of its partition:

    elected     make a new shard, `replay` the whole log, then `on_loaded`. Until then nothing else is asked of it;
                clients are told COORDINATOR_LOAD_IN_PROGRESS.
    leading     `handle` requests, `tick` when `next_deadline_ms` has come, `replay` what was appended.
    resigned    `on_resigned` answers whoever waits inside; open outcomes fail; the shard is thrown away.
"""

from typing import Protocol

from kafkish.coordinators.effects import Effects
from kafkish.coordinators.inputs import Caller, Now
from kafkish_protocol.schema import CoordinatorKey, CoordinatorValue, Request


class Shard(Protocol):
    """A pure state machine over one partition's log."""

    def handle(self, request: Request, caller: Caller, now: Now) -> Effects:
        """Decide on a request. Its reply is among the effects of this call or of a later one."""
        ...

    def replay(self, key: CoordinatorKey, value: CoordinatorValue | None) -> None:
        """Apply one record of the log. Nothing else changes what the shard must not forget."""
        ...

    def on_loaded(self, now: Now) -> Effects:
        """The log has been replayed to its end: time begins."""
        ...

    def on_resigned(self, now: Now) -> Effects:
        """The partition is led elsewhere: everyone who waits is told NOT_COORDINATOR."""
        ...

    def next_deadline_ms(self) -> int | None:
        """When `tick` has something to do, on the monotonic clock. May change with every call."""
        ...

    def tick(self, now: Now) -> Effects:
        """Do what has become due."""
        ...
