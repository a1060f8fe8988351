"""BrokerHeartbeat (63): a broker is alive, and says what it wants to be.

    fenced                unfenced once it has replayed its own registration, unless it wants to stay fenced;
                          may stop at once
    unfenced              fenced if it wants to be; to stop, it goes into controlled shutdown while it leads anything
    controlled shutdown   leads nothing any more; may stop when all others have seen who leads instead

Directories that went offline (KIP-858) cost the broker its place in the ISRs of what was in them.
"""

from enum import Enum, auto

from kafkish.controller.operation import ApiError, Context, Result, check_broker_epoch
from kafkish.controller.partition_changes import broker_leaves, broker_returns, in_directory, in_sync, led
from kafkish.metadata import versions
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.nodes import Broker
from kafkish_protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_nodes import BrokerRegistrationChangeRecord


class State(Enum):
    """What a broker is, or becomes."""

    FENCED = auto()
    UNFENCED = auto()
    CONTROLLED_SHUTDOWN = auto()
    SHUTDOWN_NOW = auto()


def broker_heartbeat(
    image: MetadataImage, request: BrokerHeartbeatRequest, context: Context
) -> Result[BrokerHeartbeatResponse]:
    """Answer a heartbeat, and change the broker's state where it is due."""
    try:
        check_broker_epoch(image, request.broker_id, request.broker_epoch)
    except ApiError as error:
        return Result([], BrokerHeartbeatResponse(error_code=error.code))
    broker = image.brokers[request.broker_id]
    present = present_state(broker, context)
    wanted = next_state(image, broker, present, request, context)
    records = [] if wanted is present else transition(image, broker, wanted, context)
    records += directory_changes(image, broker, request, context)
    response = BrokerHeartbeatResponse(
        is_caught_up=has_caught_up(broker, request),
        is_fenced=wanted in (State.FENCED, State.SHUTDOWN_NOW),
        should_shut_down=wanted is State.SHUTDOWN_NOW,
    )
    return Result(records, response, atomic=False)


def present_state(broker: Broker, context: Context) -> State:
    """Controlled shutdown is what this controller has granted, not one before it."""
    if broker.fenced:
        return State.FENCED
    shutting_down = context.sessions.controlled_shutdown_offset(broker.id) >= 0
    return State.CONTROLLED_SHUTDOWN if shutting_down else State.UNFENCED


def next_state(
    image: MetadataImage, broker: Broker, present: State, request: BrokerHeartbeatRequest, context: Context
) -> State:
    """What the broker becomes."""
    if present is State.FENCED:
        if request.want_shut_down:
            return State.SHUTDOWN_NOW
        return State.UNFENCED if not request.want_fence and has_caught_up(broker, request) else State.FENCED
    if present is State.UNFENCED and request.want_fence:
        return State.SHUTDOWN_NOW if request.want_shut_down else State.FENCED
    if present is State.UNFENCED and not request.want_shut_down:
        return State.UNFENCED
    if next(led(image, broker.id), None) is not None:
        return State.CONTROLLED_SHUTDOWN
    if present is State.UNFENCED:
        return State.SHUTDOWN_NOW  # it led nothing, so nobody has to learn anything
    moved_offset = context.sessions.controlled_shutdown_offset(broker.id)
    others_know = moved_offset <= context.sessions.lowest_active_offset(image)
    return State.SHUTDOWN_NOW if others_know else State.CONTROLLED_SHUTDOWN


def has_caught_up(broker: Broker, request: BrokerHeartbeatRequest) -> bool:
    """Whether the broker has replayed its own registration, and so knows who it is."""
    return request.current_metadata_offset >= broker.registration_offset


def transition(image: MetadataImage, broker: Broker, wanted: State, context: Context) -> list[MetadataRecord]:
    """Records that bring a broker into another state."""
    change = BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch)
    if wanted is State.UNFENCED:
        change.fenced = -1
        return [change, *broker_returns(image, context, broker.id)]
    if wanted is State.CONTROLLED_SHUTDOWN:
        change.in_controlled_shutdown = 1
        left = broker_leaves(image, context, broker.id, in_sync(image, broker.id))
        return left if broker.in_controlled_shutdown else [change, *left]
    return fence(image, broker, context)


def fence(image: MetadataImage, broker: Broker, context: Context) -> list[MetadataRecord]:
    """Records that fence a broker: it leaves every ISR and leads nothing."""
    change = BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch, fenced=1)
    return [*broker_leaves(image, context, broker.id, in_sync(image, broker.id)), change]


def directory_changes(
    image: MetadataImage, broker: Broker, request: BrokerHeartbeatRequest, context: Context
) -> list[MetadataRecord]:
    """Records for directories that went offline, and for those that take no new replicas."""
    records: list[MetadataRecord] = []
    change = BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch)
    offline = [directory for directory in broker.directories if directory in request.offline_log_dirs]
    if offline and image.metadata_version >= versions.DIRECTORIES:
        for directory in offline:
            records += broker_leaves(image, context, broker.id, in_directory(image, broker.id, directory))
        change.log_dirs = [directory for directory in broker.directories if directory not in offline]
        records.append(change)
    cordoned = request.cordoned_log_dirs  # null until the broker has caught up
    if cordoned is not None and image.metadata_version >= versions.CORDONED_DIRECTORIES:
        known = broker.cordoned_directories
        if known is None or set(known) != set(cordoned):
            records.append(
                BrokerRegistrationChangeRecord(
                    broker_id=broker.id, broker_epoch=broker.epoch, cordoned_log_dirs=cordoned
                )
            )
    return records
