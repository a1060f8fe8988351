"""Metadata (3): the brokers of the cluster, and its topics.

- There is one broker, this one, at the address that the client dialled: it is known to work for that client.
- There are no topics yet: each one that is asked for is unknown. In version 0 an empty list asks for all topics, later
  null does.
"""

from kafkish.handlers.registry import RequestContext, handles
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from kafkish_protocol.types import ZERO_UUID


@handles(ApiKey.METADATA, "0-13")
def metadata(request: MetadataRequest, context: RequestContext) -> MetadataResponse:
    """Answer with this broker and what is asked of topics."""
    node = context.node
    return MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=node.id, host=context.local_host, port=context.local_port)],
        cluster_id=node.cluster_id,
        controller_id=node.id,
        topics=[unknown_topic(topic) for topic in request.topics or []],
    )


def unknown_topic(topic: MetadataRequestTopic) -> MetadataResponseTopic:
    """A topic asked for by id has no name in the answer."""
    if topic.topic_id != ZERO_UUID:
        return MetadataResponseTopic(error_code=ErrorCode.UNKNOWN_TOPIC_ID, topic_id=topic.topic_id, name=None)
    return MetadataResponseTopic(error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name=topic.name)
