"""BrokerRegistration (62): a broker joins the cluster, fenced at first.

- An id belongs to one broker at a time: another incarnation has to wait until the session of the one before is over.
- The broker must support every finalized feature at its level.
- A new incarnation leaves every ISR. Unless it knows the epoch that it had when it stopped cleanly (version 3), it may
  have lost records, and it leaves every ELR as well (KIP-966).
- The broker's epoch is the offset at which its registration is written. The same incarnation that registers again only
  amends what it said, and keeps its epoch.
"""

from kafkish.controller.operation import ApiError, Context, Result
from kafkish.controller.partition_changes import broker_leaves, broker_stopped_uncleanly, in_sync
from kafkish.metadata import versions
from kafkish.metadata.directories import is_reserved
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.nodes import Broker, broker_to_record, features_from, listeners_from
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.types import Uuid
from kafkish_protocol.uuids import format_uuid


def broker_registration(
    image: MetadataImage, request: BrokerRegistrationRequest, context: Context
) -> Result[BrokerRegistrationResponse]:
    """Register a broker, or amend its registration."""
    before = image.brokers.get(request.broker_id)
    try:
        check_identity(before, request, context)
        if image.metadata_version >= versions.DIRECTORIES:
            check_directories(image, request.broker_id, request.log_dirs)
        check_features(image, request, context)
    except ApiError as error:
        return Result([], BrokerRegistrationResponse(error_code=error.code))
    same = before if before is not None and before.incarnation_id == request.incarnation_id else None
    records = [] if same is not None else previous_incarnation_leaves(image, before, request, context)
    epoch = context.next_offset if same is None else same.epoch
    broker = Broker(
        id=request.broker_id,
        epoch=epoch,
        incarnation_id=request.incarnation_id,
        listeners=listeners_from(request.listeners),
        features=features_from(request.features),
        rack=request.rack,
        fenced=same is None or same.fenced,
        in_controlled_shutdown=same is not None and same.in_controlled_shutdown,
        directories=tuple(request.log_dirs) if image.metadata_version >= versions.DIRECTORIES else (),
        cordoned_directories=None,
    )
    # Last, so that records that are cut in two and half lost are made again: the broker will try again.
    records.append(broker_to_record(broker))
    return Result(records, BrokerRegistrationResponse(broker_epoch=epoch), atomic=False)


def previous_incarnation_leaves(
    image: MetadataImage, before: Broker | None, request: BrokerRegistrationRequest, context: Context
) -> list[MetadataRecord]:
    """Records that take what a broker was before out of the ISRs."""
    stopped_cleanly = context.api_version >= 3 and before is not None and before.epoch == request.previous_broker_epoch
    if image.features.elr_enabled and not stopped_cleanly:
        return broker_stopped_uncleanly(image, context, request.broker_id)
    return broker_leaves(image, context, request.broker_id, in_sync(image, request.broker_id))


def check_identity(before: Broker | None, request: BrokerRegistrationRequest, context: Context) -> None:
    """Refuse a broker of another cluster, and one whose id is in use."""
    if request.cluster_id != context.settings.cluster_id:
        message = f"Expected cluster ID {context.settings.cluster_id}, but got cluster ID {request.cluster_id}"
        raise ApiError(ErrorCode.INCONSISTENT_CLUSTER_ID, message)
    alive = before is not None and context.sessions.is_valid(before.id, before.epoch, context.now_ms)
    if before is not None and alive and before.incarnation_id != request.incarnation_id:
        message = f"Another broker is registered with id {before.id} and alive"
        raise ApiError(ErrorCode.DUPLICATE_BROKER_REGISTRATION, message)
    if request.is_migrating_zk_broker:
        message = "Controller does not support registering ZK brokers."
        raise ApiError(ErrorCode.BROKER_ID_NOT_REGISTERED, message)


def check_directories(image: MetadataImage, broker_id: int, directories: list[Uuid]) -> None:
    """Refuse directories that are none, or someone else's: a disk may have been moved."""
    if not directories:
        raise ApiError(ErrorCode.INVALID_REGISTRATION, "No directories specified in request")
    if any(map(is_reserved, directories)):
        raise ApiError(ErrorCode.INVALID_REGISTRATION, "Reserved directory ID in request")
    if len(set(directories)) < len(directories):
        raise ApiError(ErrorCode.INVALID_REGISTRATION, "Duplicate directory ID in request")
    for other in image.brokers.values():
        shared = set(other.directories) & set(directories)
        if other.id != broker_id and shared:
            message = f"Broker {other.id} is already registered with directory {format_uuid(min(shared))}"
            raise ApiError(ErrorCode.INVALID_REGISTRATION, message)


def check_features(image: MetadataImage, request: BrokerRegistrationRequest, context: Context) -> None:
    """Refuse a broker that could not read or do what the cluster has agreed on. What it does not name, it has not."""
    supported = features_from(request.features)
    finalized = {
        **image.features.levels,
        versions.METADATA_VERSION: image.metadata_version,
        versions.KRAFT_VERSION: context.kraft_version,
    }
    for name, (low, high) in supported.items():
        check_level(name, finalized.pop(name, 0), low, high)
    if versions.METADATA_VERSION not in supported:
        message = "Request features do not contain 'metadata.version'"
        raise ApiError(ErrorCode.INVALID_REGISTRATION, message)
    for name, level in finalized.items():
        check_level(name, level, 0, 0)


def check_level(name: str, level: int, low: int, high: int) -> None:
    """Refuse a broker that does not support the finalized level of one feature."""
    if not low <= level <= high:
        message = (
            f"Unable to register because the broker does not support finalized version {level} of {name}. "
            f"The broker wants a version between {low} and {high}, inclusive."
        )
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, message)
