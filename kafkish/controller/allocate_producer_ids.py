"""AllocateProducerIds (67): a broker gets a block of producer ids to give to clients (KIP-730)."""

from typing import Final

from kafkish.controller.operation import ApiError, Context, Result, check_broker_epoch
from kafkish.metadata.image import MetadataImage
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from kafkish_protocol.stored.metadata_settings import ProducerIdsRecord

BLOCK: Final = 1000
_INT64_MAX: Final = 2**63 - 1


def allocate_producer_ids(
    image: MetadataImage,
    request: AllocateProducerIdsRequest,
    context: Context,  # noqa: ARG001  # every operation has one
) -> Result[AllocateProducerIdsResponse]:
    """Give out the next block. Ids of a block that a broker loses are never used."""
    first = max(0, image.next_producer_id)
    try:
        check_broker_epoch(image, request.broker_id, request.broker_epoch)
        if first > _INT64_MAX - BLOCK:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
    except ApiError as error:
        return Result([], AllocateProducerIdsResponse(error_code=error.code))
    record = ProducerIdsRecord(
        broker_id=request.broker_id, broker_epoch=request.broker_epoch, next_producer_id=first + BLOCK
    )
    return Result([record], AllocateProducerIdsResponse(producer_id_start=first, producer_id_len=BLOCK))
