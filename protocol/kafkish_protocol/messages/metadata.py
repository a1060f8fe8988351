"""Metadata (3): topics, their partitions with leaders and replicas, and the brokers to talk to."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Bool, Int16, Int32, String, Uuid


class MetadataRequestTopic(Struct):
    topic_id: Uuid = field(UUID, "10+", ignorable=True)
    name: str | None = field(String, "0+", nullable="10+", entity="topicName")


class MetadataRequest(Request, api_key=3, versions="0-13", flexible="9+", listeners="broker"):
    topics: list[MetadataRequestTopic] | None = field(Array(MetadataRequestTopic), "0+", nullable="1+")
    allow_auto_topic_creation: bool = field(Bool, "4+", default=True)
    include_cluster_authorized_operations: bool = field(Bool, "8-10")
    include_topic_authorized_operations: bool = field(Bool, "8+")


class MetadataResponseBroker(Struct):
    node_id: int = field(Int32, "0+", entity="brokerId")
    host: str = field(String, "0+")
    port: int = field(Int32, "0+")
    rack: str | None = field(String, "1+", nullable="1+", default=None, ignorable=True)


class MetadataResponsePartition(Struct):
    error_code: int = field(Int16, "0+")
    partition_index: int = field(Int32, "0+")
    leader_id: int = field(Int32, "0+", entity="brokerId")
    leader_epoch: int = field(Int32, "7+", default=-1, ignorable=True)
    replica_nodes: list[int] = field(Array(Int32), "0+", entity="brokerId")
    isr_nodes: list[int] = field(Array(Int32), "0+", entity="brokerId")
    offline_replicas: list[int] = field(Array(Int32), "5+", ignorable=True, entity="brokerId")


class MetadataResponseTopic(Struct):
    error_code: int = field(Int16, "0+")
    name: str | None = field(String, "0+", nullable="12+", entity="topicName")
    topic_id: Uuid = field(UUID, "10+", ignorable=True)
    is_internal: bool = field(Bool, "1+", ignorable=True)
    partitions: list[MetadataResponsePartition] = field(Array(MetadataResponsePartition), "0+")
    topic_authorized_operations: int = field(Int32, "8+", default=-2_147_483_648)


class MetadataResponse(Response, api_key=3, versions="0-13", flexible="9+"):
    throttle_time_ms: int = field(Int32, "3+", ignorable=True)
    brokers: list[MetadataResponseBroker] = field(Array(MetadataResponseBroker), "0+")
    cluster_id: str | None = field(String, "2+", nullable="2+", default=None, ignorable=True)
    controller_id: int = field(Int32, "1+", default=-1, ignorable=True, entity="brokerId")
    topics: list[MetadataResponseTopic] = field(Array(MetadataResponseTopic), "0+")
    cluster_authorized_operations: int = field(Int32, "8-10", default=-2_147_483_648)
    error_code: int = field(Int16, "13+", ignorable=True)
