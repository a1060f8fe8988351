"""Brokers and controllers as they registered, and as records say it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, Protocol

from kafkish.metadata.directories import is_online
from kafkish_protocol.stored.metadata_nodes import (
    BrokerEndpoint,
    BrokerFeature,
    BrokerRegistrationChangeRecord,
    ControllerEndpoint,
    ControllerFeature,
    RegisterBrokerRecord,
    RegisterControllerRecord,
)
from kafkish_protocol.types import Uuid

CHANGE_TO: Final[Mapping[int, bool | None]] = {-1: False, 0: None, 1: True}
"""How a change record's bytes speak: 1 sets, -1 clears, 0 leaves as it is."""


class VersionRange(NamedTuple):
    """The levels of a feature that a node supports, both ends included."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"


class Listener(NamedTuple):
    """An address at which a node can be reached."""

    name: str
    host: str
    port: int
    security_protocol: int


@dataclass(frozen=True, slots=True)
class Broker:
    """A registered broker. Fenced means: no leader, in no ISR, not shown to clients."""

    id: int
    epoch: int
    incarnation_id: Uuid
    listeners: tuple[Listener, ...]
    features: Mapping[str, VersionRange]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    directories: tuple[Uuid, ...]
    cordoned_directories: tuple[Uuid, ...] | None  # None until the broker has caught up and says which
    is_migrating_zk_broker: bool = False
    registration_offset: int = field(default=-1, compare=False)
    """Where the registration stands in the log; after a snapshot, where the snapshot ends."""

    @property
    def active(self) -> bool:
        """Whether it may lead and be in sync."""
        return not self.fenced and not self.in_controlled_shutdown

    @property
    def takes_new_replicas(self) -> bool:
        """Whether a directory is left that is not cordoned (KIP-1066)."""
        if not self.directories or self.cordoned_directories is None:
            return True
        return not set(self.directories) <= set(self.cordoned_directories)

    def has_online(self, directory: Uuid) -> bool:
        """Whether a replica in this directory can be served."""
        return is_online(directory, self.directories)


class Controller(NamedTuple):
    """A registered controller (KIP-919)."""

    id: int
    incarnation_id: Uuid
    listeners: tuple[Listener, ...]
    features: Mapping[str, VersionRange]
    zk_migration_ready: bool = False


class _Endpoint(Protocol):
    name: str
    host: str
    port: int
    security_protocol: int


class _Feature(Protocol):
    name: str
    min_supported_version: int
    max_supported_version: int


def listeners_from(endpoints: Iterable[_Endpoint]) -> tuple[Listener, ...]:
    """The addresses in a record or request."""
    return tuple(Listener(e.name, e.host, e.port, e.security_protocol) for e in endpoints)


def features_from(features: Iterable[_Feature]) -> dict[str, VersionRange]:
    """The supported features in a record or request."""
    return {f.name: VersionRange(f.min_supported_version, f.max_supported_version) for f in features}


def broker_from_record(record: RegisterBrokerRecord, offset: int) -> Broker:
    """A broker as a record registers it."""
    cordoned = record.cordoned_log_dirs
    return Broker(
        id=record.broker_id,
        epoch=record.broker_epoch,
        incarnation_id=record.incarnation_id,
        listeners=listeners_from(record.end_points),
        features=features_from(record.features),
        rack=record.rack,
        fenced=record.fenced,
        in_controlled_shutdown=record.in_controlled_shutdown,
        directories=tuple(record.log_dirs),
        cordoned_directories=None if cordoned is None else tuple(cordoned),
        is_migrating_zk_broker=record.is_migrating_zk_broker,
        registration_offset=offset,
    )


def broker_to_record(broker: Broker) -> RegisterBrokerRecord:
    """The record that registers a broker as it is."""
    cordoned = broker.cordoned_directories
    return RegisterBrokerRecord(
        broker_id=broker.id,
        is_migrating_zk_broker=broker.is_migrating_zk_broker,
        incarnation_id=broker.incarnation_id,
        broker_epoch=broker.epoch,
        end_points=[
            BrokerEndpoint(name=at.name, host=at.host, port=at.port, security_protocol=at.security_protocol)
            for at in broker.listeners
        ],
        features=[
            BrokerFeature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in broker.features.items()
        ],
        rack=broker.rack,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
        log_dirs=list(broker.directories),
        cordoned_log_dirs=None if cordoned is None else list(cordoned),
    )


def changed_broker(broker: Broker, record: BrokerRegistrationChangeRecord) -> Broker:
    """A broker after a change of its registration."""
    fenced, leaving = CHANGE_TO[record.fenced], CHANGE_TO[record.in_controlled_shutdown]
    cordoned = record.cordoned_log_dirs
    return replace(
        broker,
        fenced=broker.fenced if fenced is None else fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown if leaving is None else leaving,
        directories=tuple(record.log_dirs) or broker.directories,
        cordoned_directories=broker.cordoned_directories if cordoned is None else tuple(cordoned),
    )


def controller_from_record(record: RegisterControllerRecord) -> Controller:
    """A controller as a record registers it."""
    return Controller(
        id=record.controller_id,
        incarnation_id=record.incarnation_id,
        listeners=listeners_from(record.end_points),
        features=features_from(record.features),
        zk_migration_ready=record.zk_migration_ready,
    )


def controller_to_record(controller: Controller) -> RegisterControllerRecord:
    """The record that registers a controller as it is."""
    return RegisterControllerRecord(
        controller_id=controller.id,
        incarnation_id=controller.incarnation_id,
        zk_migration_ready=controller.zk_migration_ready,
        end_points=[
            ControllerEndpoint(name=at.name, host=at.host, port=at.port, security_protocol=at.security_protocol)
            for at in controller.listeners
        ],
        features=[
            ControllerFeature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in controller.features.items()
        ],
    )
