"""DeleteTopics (20): delete topics, by name or by id."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import Request, Response, Struct
from kafkish_protocol.types import UUID, Array, Int16, Int32, String, Uuid


class DeleteTopicState(Struct):
    name: str | None = field(String, "6+", nullable="6+", default=None, entity="topicName")
    topic_id: Uuid = field(UUID, "6+")


class DeleteTopicsRequest(Request, api_key=20, versions="1-6", flexible="4+", listeners="broker controller"):
    topics: list[DeleteTopicState] = field(Array(DeleteTopicState), "6+")
    topic_names: list[str] = field(Array(String), "0-5", ignorable=True, entity="topicName")
    timeout_ms: int = field(Int32, "0+")


class DeletableTopicResult(Struct):
    name: str | None = field(String, "0+", nullable="6+", entity="topicName")
    topic_id: Uuid = field(UUID, "6+", ignorable=True)
    error_code: int = field(Int16, "0+")
    error_message: str | None = field(String, "5+", nullable="5+", default=None, ignorable=True)


class DeleteTopicsResponse(Response, api_key=20, versions="1-6", flexible="4+"):
    throttle_time_ms: int = field(Int32, "1+", ignorable=True)
    responses: list[DeletableTopicResult] = field(Array(DeletableTopicResult), "0+")
