"""What every operation takes and gives.

    def create_topics(image: MetadataImage, request: CreateTopicsRequest, context: Context) -> Result[...]

Inside an operation a check that fails raises `ApiError`; the loop over topics, partitions or resources catches it and
makes the response's row of it. No ApiError leaves an operation.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final, Generic, NamedTuple, TypeVar

from kafkish.controller.ports import AclOperation, AclResource, Authorize, ConfigPort, Dice
from kafkish.controller.sessions import Sessions
from kafkish.metadata.directories import is_reserved
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.nodes import VersionRange
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.types import Uuid
from kafkish_protocol.uuids import format_uuid

MAX_RECORDS: Final = 10_000
"""A request that would write more is refused: its records go into one batch."""

ResponseT_co = TypeVar("ResponseT_co", covariant=True)


class ApiError(Exception):
    """A refusal, as a client is told it."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


class Result(NamedTuple, Generic[ResponseT_co]):
    """Records to write, and the response to give once they are committed."""

    records: list[MetadataRecord]
    response: ResponseT_co
    atomic: bool = True
    """Whether all records must be in one batch. Where not, they may be cut anywhere, and each part does no harm."""


class Settings(NamedTuple):
    """What the controller is configured with."""

    cluster_id: str
    node_id: int
    voter_ids: frozenset[int]
    supported_features: Mapping[str, VersionRange]
    default_partitions: int = 1
    default_replication_factor: int = 1
    delete_topics: bool = True


def allow_all(operation: AclOperation, resource: AclResource, name: str) -> bool:  # noqa: ARG001  # a port's default
    """Without an authorizer everyone may do everything."""
    return True


def charge_nothing(partitions: int) -> None:
    """Without a quota nobody is throttled."""


def is_address(name: str) -> bool:
    """Without a resolver, addresses alone are known."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Context:
    """All that an operation may know besides the image and the request."""

    settings: Settings
    configs: ConfigPort
    dice: Dice
    new_uuid: Callable[[], Uuid]
    api_version: int
    now_ms: int = 0
    next_offset: int = 0  # where the first record would be written: a new broker's epoch
    kraft_version: int = 1
    sessions: Sessions = field(default_factory=Sessions)
    authorize: Authorize = allow_all
    charge_partitions: Callable[[int], None] = charge_nothing
    """Counts created and deleted partitions against a quota; raises ApiError, THROTTLING_QUOTA_EXCEEDED (KIP-599)."""
    resolves: Callable[[str], bool] = is_address
    """Whether a name is an address, or a host's that has one."""
    through_broker: bool = True
    """Whether a client sent the request to a broker, which has looked at it, and not to the controller itself."""


def check_size(records: int) -> None:
    """Refuse to write more than fits in one batch."""
    if records > MAX_RECORDS:
        raise ApiError(ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")


def check_broker_epoch(image: MetadataImage, broker_id: int, epoch: int) -> None:
    """Refuse a broker that is not registered, or is not the one that is."""
    broker = image.brokers.get(broker_id)
    if broker is None:
        raise ApiError(ErrorCode.STALE_BROKER_EPOCH, f"No broker registration found for broker id {broker_id}")
    if broker.epoch != epoch:
        message = f"Expected broker epoch {broker.epoch}, but got broker epoch {epoch}"
        raise ApiError(ErrorCode.STALE_BROKER_EPOCH, message)


def random_uuid(random_bytes: Callable[[int], bytes]) -> Uuid:
    """An id for a topic or directory: version 4, not reserved, no dash in front that looks like a tool's option."""
    while True:
        drawn = bytearray(random_bytes(16))
        drawn[6], drawn[8] = drawn[6] & 0x0F | 0x40, drawn[8] & 0x3F | 0x80
        made = Uuid(bytes(drawn))
        if not is_reserved(made) and not format_uuid(made).startswith("-"):
            return made
