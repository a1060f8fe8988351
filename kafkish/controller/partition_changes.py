"""What becomes of many partitions when a broker or one of its directories comes or goes."""

from collections.abc import Iterable, Iterator

from kafkish.controller.elections import Rules, Wish, change, topic_rules
from kafkish.controller.operation import Context
from kafkish.metadata.changes import PartitionId
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.topics import NO_LEADER, Partition
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.types import Uuid


def broker_leaves(
    image: MetadataImage, context: Context, broker_id: int, partitions: Iterable[PartitionId]
) -> list[MetadataRecord]:
    """Take a broker out of the ISR of these partitions, and elect others where it leads."""
    return _changes(image, context, partitions, removed=broker_id)


def broker_returns(image: MetadataImage, context: Context, broker_id: int) -> list[MetadataRecord]:
    """Let a broker lead what nobody leads, as far as it may."""
    return _changes(image, context, without_leader(image), added=broker_id)


def broker_stopped_uncleanly(image: MetadataImage, context: Context, broker_id: int) -> list[MetadataRecord]:
    """Take a broker out of every ISR and ELR: it may have lost what it had acknowledged (KIP-966)."""
    partitions = [*in_sync(image, broker_id), *eligible(image, broker_id)]
    return _changes(image, context, partitions, removed=broker_id, uncleanly=True)


def in_sync(image: MetadataImage, broker_id: int) -> Iterator[PartitionId]:
    """Partitions with a broker in their ISR."""
    return (key for key, partition in _all(image) if broker_id in partition.isr)


def eligible(image: MetadataImage, broker_id: int) -> Iterator[PartitionId]:
    """Partitions with a broker among their eligible leader replicas."""
    return (key for key, partition in _all(image) if broker_id in partition.elr)


def led(image: MetadataImage, broker_id: int) -> Iterator[PartitionId]:
    """Partitions that a broker leads."""
    return (key for key, partition in _all(image) if partition.leader == broker_id)


def without_leader(image: MetadataImage) -> Iterator[PartitionId]:
    """Partitions that nobody leads."""
    return led(image, NO_LEADER)


def in_directory(image: MetadataImage, broker_id: int, directory: Uuid) -> Iterator[PartitionId]:
    """Partitions whose replica on a broker is in this directory."""
    return (
        key
        for key, partition in _all(image)
        if broker_id in partition.replicas and partition.directory_of(broker_id) == directory
    )


def _all(image: MetadataImage) -> Iterator[tuple[PartitionId, Partition]]:
    for topic in image.topics.by_id.values():
        for index, partition in topic.partitions.items():
            yield (topic.id, index), partition


def _changes(
    image: MetadataImage,
    context: Context,
    partitions: Iterable[PartitionId],
    *,
    removed: int = NO_LEADER,
    added: int = NO_LEADER,
    uncleanly: bool = False,
) -> list[MetadataRecord]:
    records: list[MetadataRecord] = []
    rules: dict[Uuid, Rules] = {}
    for topic_id, index in partitions:
        topic = image.topics.by_id[topic_id]
        if topic_id not in rules:
            rules[topic_id] = topic_rules(image, context, topic, removed=[removed], added=[added])
        partition = topic.partitions[index]
        wish = Wish(
            isr=[replica for replica in partition.isr if replica != removed],
            uncleanly_stopped=frozenset([removed] if uncleanly else []),
            election=rules[topic_id].election,
        )
        record = change(topic_id, index, partition, wish, rules[topic_id])
        if record is not None:
            records.append(record)
    return records
