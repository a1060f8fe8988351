"""What the controller does by itself from time to time. Each function returns records, to be called again soon if many.

Kafka calls `fence_stale_broker` several times in a session's timeout, the others every
`leader.imbalance.check.interval.seconds` and `unclean.leader.election.interval.ms` (five minutes both).
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from kafkish.controller.broker_heartbeat import fence
from kafkish.controller.elections import Election, Wish, change, topic_rules
from kafkish.controller.operation import Context
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.topics import NO_LEADER, Partition
from kafkish_protocol.schema import MetadataRecord

MAX_ELECTIONS: Final = 1000
"""At once: a run that returns as many should soon be followed by another."""


def fence_stale_broker(image: MetadataImage, context: Context) -> list[MetadataRecord]:
    """Fence one broker that was not heard of for too long. One at a time, so that the next finds the leaders moved."""
    stale = context.sessions.stale_broker(image, context.now_ms)
    return [] if stale is None else fence(image, image.brokers[stale], context)


def balance_leaders(image: MetadataImage, context: Context) -> list[MetadataRecord]:
    """Let preferred replicas lead where they can."""
    return list(islice(_elections(image, context, Election.PREFERRED), MAX_ELECTIONS))


def elect_unclean_leaders(image: MetadataImage, context: Context) -> list[MetadataRecord]:
    """Elect anyone for partitions that nobody leads, where the topic allows it."""
    return list(islice(_elections(image, context, Election.UNCLEAN), MAX_ELECTIONS))


def _elections(image: MetadataImage, context: Context, election: Election) -> Iterator[MetadataRecord]:
    for topic in image.topics.by_id.values():
        needy = [index for index, partition in topic.partitions.items() if _needs(partition, election)]
        rules = topic_rules(image, context, topic) if needy else None
        if rules is None or (election is Election.UNCLEAN and not rules.unclean_election):
            continue
        for index in needy:
            record = change(topic.id, index, topic.partitions[index], Wish(election=election), rules)
            if record is not None:
                yield record


def _needs(partition: Partition, election: Election) -> bool:
    return not partition.has_preferred_leader if election is Election.PREFERRED else partition.leader == NO_LEADER
