"""DescribeCluster (60): the cluster's id, controller, and nodes."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Bool, Int8, Int16, Int32, String


class DescribeClusterRequest(Request, api_key=60, versions="0-2", flexible="0+", listeners="broker controller"):
    include_cluster_authorized_operations: bool = field(Bool, "0+")
    endpoint_type: int = field(Int8, "1+", default=1)
    include_fenced_brokers: bool = field(Bool, "2+")


class DescribeClusterBroker(Struct):
    broker_id: int = field(Int32, "0+", entity="brokerId")
    host: str = field(String, "0+")
    port: int = field(Int32, "0+")
    rack: str | None = field(String, "0+", nullable="0+", default=None)
    is_fenced: bool = field(Bool, "2+")


class DescribeClusterResponse(Response, api_key=60, versions="0-2", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)
    endpoint_type: int = field(Int8, "1+", default=1)
    cluster_id: str = field(String, "0+")
    controller_id: int = field(Int32, "0+", default=-1, entity="brokerId")
    brokers: list[DescribeClusterBroker] = field(Array(DescribeClusterBroker), "0+")
    cluster_authorized_operations: int = field(Int32, "0+", default=-2_147_483_648)
