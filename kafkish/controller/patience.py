"""How long a request may wait for its turn. What has had its turn takes as long as it takes, as in Kafka.

A request of which nothing is left to decide, since all of it is refused already, does not wait.
"""

from collections import Counter
from typing import Any

from kafkish.config.topic_names import METADATA_TOPIC
from kafkish_protocol.api import ApiKey
from kafkish_protocol.schema import Request


def patience_ms(request: Request) -> int | None:
    """The request's own limit; None if it has none, or if the controller does not look at it."""
    asked: Any = request
    match ApiKey(request.schema.api_key or 0):
        case ApiKey.CREATE_TOPICS | ApiKey.CREATE_PARTITIONS:
            waits = _is_one_to_decide([topic.name for topic in asked.topics])
        case ApiKey.DELETE_TOPICS:
            waits = _is_one_to_decide([topic.name or topic.topic_id for topic in asked.topics] + asked.topic_names)
        case ApiKey.ELECT_LEADERS:
            waits = asked.topic_partitions != []  # null stands for all
        case ApiKey.ALTER_PARTITION_REASSIGNMENTS:
            waits = bool(asked.topics)
        case _:
            return None
    return int(asked.timeout_ms) if waits else None


def _is_one_to_decide(names: list[Any]) -> bool:
    """Names that come twice are refused before anyone waits, and so is the metadata's own topic."""
    return any(count == 1 and name != METADATA_TOPIC for name, count in Counter(names).items())
