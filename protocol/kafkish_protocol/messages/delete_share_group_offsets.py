"""DeleteShareGroupOffsets (92): forget where a share group stands."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, String, Uuid


class DeleteShareGroupOffsetsRequestTopic(Struct):
    topic_name: str = field(String, "0+", entity="topicName")


class DeleteShareGroupOffsetsRequest(Request, api_key=92, versions="0", flexible="0+", listeners="broker"):
    group_id: str = field(String, "0+", entity="groupId")
    topics: list[DeleteShareGroupOffsetsRequestTopic] = field(Array(DeleteShareGroupOffsetsRequestTopic), "0+")


class DeleteShareGroupOffsetsResponseTopic(Struct):
    topic_name: str = field(String, "0+", entity="topicName")
    topic_id: Uuid = field(UUID, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)


class DeleteShareGroupOffsetsResponse(Response, api_key=92, versions="0", flexible="0+"):
    throttle_time_ms: int = field(Int32, "0+")
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "0+", nullable="0+", default=None)
    responses: list[DeleteShareGroupOffsetsResponseTopic] = field(Array(DeleteShareGroupOffsetsResponseTopic), "0+")
