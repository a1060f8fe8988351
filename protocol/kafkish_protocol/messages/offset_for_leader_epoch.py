"""OffsetForLeaderEpoch (23): the end offset of a leader epoch, to find where logs diverge."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import Array, Int16, Int32, Int64, String


class OffsetForLeaderPartition(Struct):
    partition: int = field(Int32, "0+")
    current_leader_epoch: int = field(Int32, "2+", default=-1, ignorable=True)
    leader_epoch: int = field(Int32, "0+")


class OffsetForLeaderTopic(Struct):
    topic: str = field(String, "0+", entity="topicName")
    partitions: list[OffsetForLeaderPartition] = field(Array(OffsetForLeaderPartition), "0+")


class OffsetForLeaderEpochRequest(Request, api_key=23, versions="2-4", flexible="4+", listeners="broker"):
    replica_id: int = field(Int32, "3+", default=-2, ignorable=True, entity="brokerId")
    topics: list[OffsetForLeaderTopic] = field(Array(OffsetForLeaderTopic), "0+")


class EpochEndOffset(Struct):
    error_code: int = field(Int16, "0+")
    partition: int = field(Int32, "0+")
    leader_epoch: int = field(Int32, "1+", default=-1, ignorable=True)
    end_offset: int = field(Int64, "0+", default=-1)


class OffsetForLeaderTopicResult(Struct):
    topic: str = field(String, "0+", entity="topicName")
    partitions: list[EpochEndOffset] = field(Array(EpochEndOffset), "0+")


class OffsetForLeaderEpochResponse(Response, api_key=23, versions="2-4", flexible="4+"):
    throttle_time_ms: int = field(Int32, "2+", ignorable=True)
    topics: list[OffsetForLeaderTopicResult] = field(Array(OffsetForLeaderTopicResult), "0+")
