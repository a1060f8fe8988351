"""UnregisterBroker (64): a broker is gone for good. If it lives, it may register again."""

from kafkish.controller.operation import Context, Result
from kafkish.controller.partition_changes import broker_leaves, eligible, in_sync
from kafkish.metadata.image import MetadataImage
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from kafkish_protocol.stored.metadata_nodes import UnregisterBrokerRecord


def unregister_broker(
    image: MetadataImage, request: UnregisterBrokerRequest, context: Context
) -> Result[UnregisterBrokerResponse]:
    """Take the broker out of every ISR, then out of the cluster."""
    broker = image.brokers.get(request.broker_id)
    if broker is None:
        code, message = ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker ID {request.broker_id} is not currently registered"
        return Result([], UnregisterBrokerResponse(error_code=code, error_message=message))
    partitions = [*in_sync(image, broker.id), *eligible(image, broker.id)]
    records = broker_leaves(image, context, broker.id, partitions)
    records.append(UnregisterBrokerRecord(broker_id=broker.id, broker_epoch=broker.epoch))
    return Result(records, UnregisterBrokerResponse(error_message=""), atomic=False)
