"""Brokers and controllers, in `__cluster_metadata`."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import MetadataRecord, Struct
from kafkish_protocol.types import UUID, Array, Bool, Int8, Int16, Int32, Int64, String, Uint16, Uuid


class BrokerEndpoint(Struct):
    name: str = field(String, "0+")
    host: str = field(String, "0+")
    port: int = field(Uint16, "0+")
    security_protocol: int = field(Int16, "0+")


class BrokerFeature(Struct):
    name: str = field(String, "0+")
    min_supported_version: int = field(Int16, "0+")
    max_supported_version: int = field(Int16, "0+")


class RegisterBrokerRecord(MetadataRecord, api_key=0, versions="0-4", flexible="0+"):
    broker_id: int = field(Int32, "0+", entity="brokerId")
    is_migrating_zk_broker: bool = field(Bool, "2+")
    incarnation_id: Uuid = field(UUID, "0+")
    broker_epoch: int = field(Int64, "0+")
    end_points: list[BrokerEndpoint] = field(Array(BrokerEndpoint), "0+")
    features: list[BrokerFeature] = field(Array(BrokerFeature), "0+")
    rack: str | None = field(String, "0+", nullable="0+")
    fenced: bool = field(Bool, "0+", default=True)
    in_controlled_shutdown: bool = field(Bool, "1+")
    log_dirs: list[Uuid] = field(Array(UUID), "3+", tag=0, tagged="3+")
    cordoned_log_dirs: list[Uuid] | None = field(Array(UUID), "4+", nullable="4+", tag=1, tagged="4+", default=None)


class UnregisterBrokerRecord(MetadataRecord, api_key=1, versions="0", flexible="0+"):
    broker_id: int = field(Int32, "0+", entity="brokerId")
    broker_epoch: int = field(Int64, "0+")


class FenceBrokerRecord(MetadataRecord, api_key=7, versions="0", flexible="0+"):
    id: int = field(Int32, "0+", entity="brokerId")
    epoch: int = field(Int64, "0+")


class UnfenceBrokerRecord(MetadataRecord, api_key=8, versions="0", flexible="0+"):
    id: int = field(Int32, "0+", entity="brokerId")
    epoch: int = field(Int64, "0+")


class BrokerRegistrationChangeRecord(MetadataRecord, api_key=17, versions="0-3", flexible="0+"):
    broker_id: int = field(Int32, "0+", entity="brokerId")
    broker_epoch: int = field(Int64, "0+")
    fenced: int = field(Int8, "0+", tag=0, tagged="0+")
    in_controlled_shutdown: int = field(Int8, "1+", tag=1, tagged="1+")
    log_dirs: list[Uuid] = field(Array(UUID), "2+", tag=2, tagged="2+")
    cordoned_log_dirs: list[Uuid] | None = field(Array(UUID), "3+", nullable="3+", tag=3, tagged="3+", default=None)


class ControllerEndpoint(Struct):
    name: str = field(String, "0+")
    host: str = field(String, "0+")
    port: int = field(Uint16, "0+")
    security_protocol: int = field(Int16, "0+")


class ControllerFeature(Struct):
    name: str = field(String, "0+")
    min_supported_version: int = field(Int16, "0+")
    max_supported_version: int = field(Int16, "0+")


class RegisterControllerRecord(MetadataRecord, api_key=27, versions="0", flexible="0+"):
    controller_id: int = field(Int32, "0+")
    incarnation_id: Uuid = field(UUID, "0+")
    zk_migration_ready: bool = field(Bool, "0+")
    end_points: list[ControllerEndpoint] = field(Array(ControllerEndpoint), "0+")
    features: list[ControllerFeature] = field(Array(ControllerFeature), "0+")
