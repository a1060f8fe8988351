"""TxnOffsetCommit (28): store how far a group has read, as part of a transaction."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int16, Int32, Int64, String


class TxnOffsetCommitRequestPartition(Struct):
    partition_index: int = field(Int32, "0+")
    committed_offset: int = field(Int64, "0+")
    committed_leader_epoch: int = field(Int32, "2+", default=-1, ignorable=True)
    committed_metadata: str | None = field(String, "0+", nullable="0+")


class TxnOffsetCommitRequestTopic(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[TxnOffsetCommitRequestPartition] = field(Array(TxnOffsetCommitRequestPartition), "0+")


class TxnOffsetCommitRequest(Request, api_key=28, versions="0-5", flexible="3+", listeners="broker"):
    transactional_id: str = field(String, "0+", entity="transactionalId")
    group_id: str = field(String, "0+", entity="groupId")
    producer_id: int = field(Int64, "0+", entity="producerId")
    producer_epoch: int = field(Int16, "0+")
    generation_id: int = field(Int32, "3+", default=-1)
    member_id: str = field(String, "3+")
    group_instance_id: str | None = field(String, "3+", nullable="3+", default=None)
    topics: list[TxnOffsetCommitRequestTopic] = field(Array(TxnOffsetCommitRequestTopic), "0+")


class TxnOffsetCommitResponsePartition(Struct):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")


class TxnOffsetCommitResponseTopic(Struct):
    name: str = field(String, "0+", entity="topicName")
    partitions: list[TxnOffsetCommitResponsePartition] = field(Array(TxnOffsetCommitResponsePartition), "0+")


class TxnOffsetCommitResponse(Response, api_key=28, versions="0-5", flexible="3+"):
    throttle_time_ms: int = field(Int32, "0+")
    topics: list[TxnOffsetCommitResponseTopic] = field(Array(TxnOffsetCommitResponseTopic), "0+")
