"""BrokerRegistration (62): a broker joins the cluster."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Bool, Int16, Int32, Int64, String, Uint16, Uuid


class Listener(Struct):
    name: str = field(String, "0+")
    host: str = field(String, "0+")
    port: int = field(Uint16, "0+")
    security_protocol: int = field(Int16, "0+")


class Feature(Struct):
    name: str = field(String, "0+")
    min_supported_version: int = field(Int16, "0+")
    max_supported_version: int = field(Int16, "0+")


class BrokerRegistrationRequest(Request, api_key=62, versions="0-4", flexible="0+", listeners="controller"):
    broker_id: int = field(Int32, "0+", entity="brokerId")
    cluster_id: str = field(String, "0+")
    incarnation_id: Uuid = field(UUID, "0+")
    listeners: list[Listener] = field(Array(Listener), "0+")
    features: list[Feature] = field(Array(Feature), "0+")
    rack: str | None = field(String, "0+", nullable="0+")
    is_migrating_zk_broker: bool = field(Bool, "1+")
    log_dirs: list[Uuid] = field(Array(UUID), "2+", ignorable=True)
    previous_broker_epoch: int = field(Int64, "3+", default=-1, ignorable=True)


class BrokerRegistrationResponse(Response, api_key=62, versions="0-4", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    broker_epoch: int = field(Int64, "0+", default=-1)
