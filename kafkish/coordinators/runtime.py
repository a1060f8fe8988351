"""One coordinator on one node: a term for each partition of its topic that the node leads.

Knows no loop, socket or file: it is told of elections, and given the log, the timers and the clock. Not for threads.
"""

from collections.abc import Callable
from typing import Generic

from kafkish.coordinators.effects import Effects
from kafkish.coordinators.inputs import Now
from kafkish.coordinators.shard_log import ShardLog
from kafkish.coordinators.surroundings import Surroundings
from kafkish.coordinators.term import Kind, Phase, S, Term
from kafkish.deferred import Deferred
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.schema import Request, Response


class Runtime(Generic[S]):
    """Sends what is asked of a partition to its term, if there is one."""

    def __init__(self, kind: Kind[S], around: Surroundings) -> None:
        self._kind = kind
        self._around = around
        self._terms: dict[int, tuple[int, Term[S]]] = {}  # partition -> leader epoch, term

    @property
    def partitions(self) -> list[int]:
        """Those that this node coordinates, loaded or not."""
        return list(self._terms)

    @property
    def shards(self) -> list[S]:
        """What this node coordinates at the moment, to be looked at and not touched."""
        return [term.shard for _, term in list(self._terms.values())]

    def elect(self, index: int, leader_epoch: int, shard_log: ShardLog) -> None:
        """This node leads the partition. A term that is under way goes on in the new epoch, on the log that it has."""
        epoch, term = self._terms.get(index, (-1, None))
        if leader_epoch <= epoch:
            return
        if term is None or term.phase is Phase.FAILED:
            term = Term(self._kind, index, shard_log, self._around)
        self._terms[index] = (leader_epoch, term)

    def resign(self, index: int, leader_epoch: int | None = None) -> None:
        """Another node leads the partition, in a newer epoch; without one, the partition is gone."""
        epoch, term = self._terms.get(index, (-1, None))
        if term is not None and (leader_epoch is None or leader_epoch > epoch):
            del self._terms[index]
            term.resign()

    def stop(self) -> None:
        """The node shuts down."""
        for index in self.partitions:
            self.resign(index)

    def handle(
        self, index: int, request: Request, api_version: int, client_id: str, client_host: str
    ) -> Deferred[Response]:
        """Answer a request that concerns one partition only."""
        if index in self._terms:
            return self._terms[index][1].handle(request, api_version, client_id, client_host)
        return Deferred.of(self._kind.refuse(request, api_version, ErrorCode.NOT_COORDINATOR))

    def do_everywhere(self, step: Callable[[S, Now], Effects]) -> None:
        """Have all shards do something; those that still load, when they are loaded."""
        for _, term in list(self._terms.values()):
            term.do(step)
