"""Ids for producers. The controller gives them out in blocks, so that no two brokers ever use the same one."""

from collections import deque
from collections.abc import Callable
from typing import Any, Final

from kafkish.deferred import Deferred
from kafkish.handlers.services import Controller, ControllerError
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse

_VERSION: Final = 0


class ProducerIdBlocks:
    """Takes a block at a time; who comes while there is none waits for it."""

    def __init__(self, broker_id: int, broker_epoch: Callable[[], int], controller: Controller) -> None:
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._controller = controller
        self._ids = iter(range(0))
        self._waiting: deque[Deferred[int]] = deque()
        self._is_asking = False

    def next(self) -> Deferred[int]:
        """An id that nobody has. Fails with ControllerError."""
        deferred: Deferred[int] = Deferred()
        self._waiting.append(deferred)
        self._serve()
        return deferred

    def _serve(self) -> None:
        while self._waiting:
            producer_id = next(self._ids, None)
            if producer_id is None:
                self._ask()
                return
            self._waiting.popleft().resolve(producer_id)

    def _ask(self) -> None:
        if not self._is_asking:
            self._is_asking = True
            request = AllocateProducerIdsRequest(broker_id=self._broker_id, broker_epoch=self._broker_epoch())
            self._controller.submit(request, _VERSION).on_done(self._answered)

    def _answered(self, done: Deferred[Any]) -> None:
        self._is_asking = False
        try:
            response: AllocateProducerIdsResponse = done.result()
        except ControllerError as error:
            self._disappoint(error)
            return
        if response.error_code:
            name = ErrorCode(response.error_code).name
            self._disappoint(ControllerError(f"the controller gives no producer ids: {name}"))
            return
        first = response.producer_id_start
        self._ids = iter(range(first, first + response.producer_id_len))
        self._serve()

    def _disappoint(self, error: ControllerError) -> None:
        waiting, self._waiting = self._waiting, deque()
        for deferred in waiting:
            deferred.fail(error)
