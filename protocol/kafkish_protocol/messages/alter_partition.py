"""AlterPartition (56): a partition's leader proposes a new set of in-sync replicas."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int8, Int16, Int32, Int64, Uuid


class BrokerState(Struct):
    broker_id: int = field(Int32, "3+", entity="brokerId")
    broker_epoch: int = field(Int64, "3+", default=-1)


class AlterPartitionRequestPartitionData(Struct, name="PartitionData"):
    partition_index: int = field(Int32, "0+")
    leader_epoch: int = field(Int32, "0+")
    new_isr: list[int] = field(Array(Int32), "0-2", entity="brokerId")
    new_isr_with_epochs: list[BrokerState] = field(Array(BrokerState), "3+")
    leader_recovery_state: int = field(Int8, "1+")
    partition_epoch: int = field(Int32, "0+")


class AlterPartitionRequestTopicData(Struct, name="TopicData"):
    topic_id: Uuid = field(UUID, "2+", ignorable=True)
    partitions: list[AlterPartitionRequestPartitionData] = field(Array(AlterPartitionRequestPartitionData), "0+")


class AlterPartitionRequest(Request, api_key=56, versions="2-3", flexible="0+", listeners="controller"):
    broker_id: int = field(Int32, "0+", entity="brokerId")
    broker_epoch: int = field(Int64, "0+", default=-1)
    topics: list[AlterPartitionRequestTopicData] = field(Array(AlterPartitionRequestTopicData), "0+")


class AlterPartitionResponsePartitionData(Struct, name="PartitionData"):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    leader_id: int = field(Int32, "0+", entity="brokerId")
    leader_epoch: int = field(Int32, "0+")
    isr: list[int] = field(Array(Int32), "0+", entity="brokerId")
    leader_recovery_state: int = field(Int8, "1+", ignorable=True)
    partition_epoch: int = field(Int32, "0+")


class AlterPartitionResponseTopicData(Struct, name="TopicData"):
    topic_id: Uuid = field(UUID, "2+", ignorable=True)
    partitions: list[AlterPartitionResponsePartitionData] = field(Array(AlterPartitionResponsePartitionData), "0+")


class AlterPartitionResponse(Response, api_key=56, versions="2-3", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    topics: list[AlterPartitionResponseTopicData] = field(Array(AlterPartitionResponseTopicData), "0+")
