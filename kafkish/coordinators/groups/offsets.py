"""Committed offsets: what a shard must not forget besides its groups. Knows nothing of membership.

Transactional commits (TxnOffsetCommit) will stand beside these, by producer id, until a marker moves them here or drops
them; OffsetFetch with `require_stable` then asks whether any is pending. Plain commits need no change for that.
"""

from collections.abc import Iterator

from kafkish_protocol.stored.offset_commit import OffsetCommitKey, OffsetCommitValue
from kafkish_protocol.types import ZERO_UUID, Uuid


class Offsets:
    """Group, topic, partition -> what was committed last."""

    def __init__(self) -> None:
        self._by_group: dict[str, dict[str, dict[int, OffsetCommitValue]]] = {}

    def replay(self, key: OffsetCommitKey, value: OffsetCommitValue | None) -> None:
        """Apply a record."""
        if value is not None:
            self._by_group.setdefault(key.group, {}).setdefault(key.topic, {})[key.partition] = value
            return
        topics = self._by_group.get(key.group, {})
        partitions = topics.get(key.topic, {})
        partitions.pop(key.partition, None)
        if not partitions:
            topics.pop(key.topic, None)
        if not topics:
            self._by_group.pop(key.group, None)

    def get(self, group_id: str, topic: str, partition: int, topic_id: Uuid = ZERO_UUID) -> OffsetCommitValue | None:
        """The offset, unless it belongs to a topic of the same name that is no more (KIP-848 topic ids)."""
        value = self._by_group.get(group_id, {}).get(topic, {}).get(partition)
        if value is None or (ZERO_UUID not in (value.topic_id, topic_id) and value.topic_id != topic_id):
            return None
        return value

    def of_group(self, group_id: str) -> dict[str, dict[int, OffsetCommitValue]]:
        """Topic -> partition -> offset. Not to be changed."""
        return self._by_group.get(group_id, {})

    def count(self, group_id: str) -> int:
        """How many partitions the group has committed."""
        return sum(map(len, self.of_group(group_id).values()))

    def of_topic(self, topic: str, topic_id: Uuid) -> Iterator[tuple[str, int]]:
        """Group and partition of every offset that is the topic's, as far as the offset says whose it is."""
        for group_id, topics in self._by_group.items():
            for partition, value in topics.get(topic, {}).items():
                if value.topic_id in (ZERO_UUID, topic_id):
                    yield group_id, partition

    def items(self) -> Iterator[tuple[tuple[str, str, int], OffsetCommitValue]]:
        """Everything, for tests and tools."""
        for group_id, topics in self._by_group.items():
            for topic, partitions in topics.items():
                for partition, value in partitions.items():
                    yield (group_id, topic, partition), value
