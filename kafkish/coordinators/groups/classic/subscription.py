"""Which topics a classic consumer group reads. All other metadata of members passes through the coordinator unread."""

from collections.abc import Iterable

from kafkish_protocol.errors import CodecError
from kafkish_protocol.stored.consumer_protocol import ConsumerProtocolSubscription

_VERSION_BYTES = 2
_COMMON_VERSION = 0  # every version of a subscription begins with the fields of this one


def subscribed_topics(subscriptions: Iterable[bytes]) -> frozenset[str] | None:
    """The topics of all members; None if one of them cannot be read, which is the members' own affair."""
    topics: set[str] = set()
    try:
        for subscription in subscriptions:
            topics.update(ConsumerProtocolSubscription.decode(subscription, _COMMON_VERSION, _VERSION_BYTES).topics)
    except CodecError:
        return None
    return frozenset(topics)
