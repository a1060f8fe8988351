"""InitProducerId (22): an id for an idempotent producer (KIP-98).

- A producer without transactions gets a new id with epoch 0, whatever id it had.
- Transactions are not coordinated here: a transactional id is checked as Kafka does, and told NOT_COORDINATOR. Its
  client then looks for the coordinator, and FindCoordinator says that there is none.
- While the controller cannot give out ids, the client is told to try again.
"""

from kafkish.deferred import Deferred
from kafkish.handlers.registry import RequestContext, RequestError, handles
from kafkish.handlers.services import ControllerError
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

_NONE = -1


@handles(ApiKey.INIT_PRODUCER_ID)
def init_producer_id(request: InitProducerIdRequest, context: RequestContext) -> Deferred[InitProducerIdResponse]:
    """Answer with a new id."""
    if (request.producer_id == _NONE) is not (request.producer_epoch == _NONE):
        raise RequestError(ErrorCode.INVALID_REQUEST)
    if request.transactional_id is not None:
        raise RequestError(why_not_transactional(request.transactional_id, request.transaction_timeout_ms, context))
    answer = context.services.producer_ids.next().map(given)
    return answer.rescue(not_yet)


def why_not_transactional(transactional_id: str, timeout_ms: int, context: RequestContext) -> ErrorCode:
    """What is wrong with a transactional id; if nothing else is, that no transaction is coordinated here."""
    longest_ms = context.services.metadata.settings.transactions.transaction_max_timeout_ms
    if not transactional_id:
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.NOT_COORDINATOR if 0 < timeout_ms <= longest_ms else ErrorCode.INVALID_TRANSACTION_TIMEOUT


def given(producer_id: int) -> InitProducerIdResponse:
    """A producer's first epoch."""
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


def not_yet(error: Exception) -> InitProducerIdResponse:
    """No ids are to be had at the moment."""
    if not isinstance(error, ControllerError):
        raise error
    return InitProducerIdResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, producer_epoch=_NONE)
