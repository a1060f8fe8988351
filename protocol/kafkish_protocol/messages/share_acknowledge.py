"""ShareAcknowledge (79): acknowledge records that a share group's member acquired."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Bool, Int8, Int16, Int32, Int64, String, Uuid


class AcknowledgementBatch(Struct):
    first_offset: int = field(Int64, "0+")
    last_offset: int = field(Int64, "0+")
    acknowledge_types: list[int] = field(Array(Int8), "0+")


class AcknowledgePartition(Struct):
    partition_index: int = field(Int32, "0+")
    acknowledgement_batches: list[AcknowledgementBatch] = field(Array(AcknowledgementBatch), "0+")


class AcknowledgeTopic(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[AcknowledgePartition] = field(Array(AcknowledgePartition), "0+")


class ShareAcknowledgeRequest(Request, api_key=79, versions="1-2", flexible="0+", listeners="broker"):
    group_id: str | None = field(String, "0+", nullable="0+", default=None, entity="groupId")
    member_id: str | None = field(String, "0+", nullable="0+")
    share_session_epoch: int = field(Int32, "0+")
    is_renew_ack: bool = field(Bool, "2+")
    topics: list[AcknowledgeTopic] = field(Array(AcknowledgeTopic), "0+")


class LeaderIdAndEpoch(Struct):
    leader_id: int = field(Int32, "0+")
    leader_epoch: int = field(Int32, "0+")


class PartitionData(Struct):
    partition_index: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)
    current_leader: LeaderIdAndEpoch = field(LeaderIdAndEpoch, "0+")


class ShareAcknowledgeTopicResponse(Struct):
    topic_id: Uuid = field(UUID, "0+")
    partitions: list[PartitionData] = field(Array(PartitionData), "0+")


class NodeEndpoint(Struct):
    node_id: int = field(Int32, "0+", entity="brokerId")
    host: str = field(String, "0+")
    port: int = field(Int32, "0+")
    rack: str | None = field(String, "0+", nullable="0+", default=None)


class ShareAcknowledgeResponse(Response, api_key=79, versions="1-2", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)
    acquisition_lock_timeout_ms: int = field(Int32, "2+", ignorable=True)
    responses: list[ShareAcknowledgeTopicResponse] = field(Array(ShareAcknowledgeTopicResponse), "0+")
    node_endpoints: list[NodeEndpoint] = field(Array(NodeEndpoint), "0+")
