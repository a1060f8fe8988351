"""CreateTopics (19): create topics, or check whether they could be."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Bool, Int8, Int16, Int32, String, Uuid


class CreatableReplicaAssignment(Struct):
    partition_index: int = field(Int32, "0+")
    broker_ids: list[int] = field(Array(Int32), "0+", entity="brokerId")


class CreatableTopicConfig(Struct):
    name: str = field(String, "0+")
    value: str | None = field(String, "0+", nullable="0+")


class CreatableTopic(Struct):
    name: str = field(String, "0+", entity="topicName")
    num_partitions: int = field(Int32, "0+")
    replication_factor: int = field(Int16, "0+")
    assignments: list[CreatableReplicaAssignment] = field(Array(CreatableReplicaAssignment), "0+")
    configs: list[CreatableTopicConfig] = field(Array(CreatableTopicConfig), "0+")


class CreateTopicsRequest(Request, api_key=19, versions="2-7", flexible="5+", listeners="broker controller"):
    topics: list[CreatableTopic] = field(Array(CreatableTopic), "0+")
    timeout_ms: int = field(Int32, "0+", default=60_000)
    validate_only: bool = field(Bool, "1+")


class CreatableTopicConfigs(Struct):
    name: str = field(String, "5+")
    value: str | None = field(String, "5+", nullable="5+")
    read_only: bool = field(Bool, "5+")
    config_source: int = field(Int8, "5+", default=-1, ignorable=True)
    is_sensitive: bool = field(Bool, "5+")


class CreatableTopicResult(Struct):
    name: str = field(String, "0+", entity="topicName")
    topic_id: Uuid = field(UUID, "7+", ignorable=True)
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "1+", nullable="0+", ignorable=True)
    topic_config_error_code: int = field(Int16, "5+", tag=0, tagged="5+", ignorable=True)
    num_partitions: int = field(Int32, "5+", default=-1, ignorable=True)
    replication_factor: int = field(Int16, "5+", default=-1, ignorable=True)
    configs: list[CreatableTopicConfigs] | None = field(
        Array(CreatableTopicConfigs), "5+", nullable="5+", ignorable=True
    )


class CreateTopicsResponse(Response, api_key=19, versions="2-7", flexible="5+"):
    throttle_time_ms: int = field(Int32, "2+", ignorable=True)
    topics: list[CreatableTopicResult] = field(Array(CreatableTopicResult), "0+")
