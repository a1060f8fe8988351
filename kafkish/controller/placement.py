"""Where new replicas go: Kafka's striped placement.

Replicas are spread over racks first, then over brokers. Racks take turns, and so do the brokers within a rack; each
partition begins one further than the one before. With racks A, B, C of three brokers each:

    partition 0: A0 B0 C0      partition 1: B1 C1 A1      partition 2: C2 A2 B2

Where the turns begin is drawn. After as many partitions as there are unfenced brokers all would repeat, so racks and
brokers are shuffled. A fenced broker gets a replica only when its rack has no other left, and never leads.
"""

from collections.abc import Iterable, MutableSequence, Sequence
from typing import NamedTuple, TypeVar

from kafkish.controller.operation import ApiError
from kafkish.controller.ports import Dice
from kafkish.metadata.image import MetadataImage
from kafkish_protocol.error_codes import ErrorCode

ItemT = TypeVar("ItemT")


class UsableBroker(NamedTuple):
    """A broker that can take replicas."""

    id: int
    rack: str | None
    fenced: bool


def usable_brokers(image: MetadataImage) -> list[UsableBroker]:
    """Who can take replicas: not those that leave, nor those whose directories are all cordoned."""
    return [
        UsableBroker(broker.id, broker.rack, broker.fenced)
        for broker in image.brokers.values()
        if broker.takes_new_replicas and (broker.fenced or not broker.in_controlled_shutdown)
    ]


def place(brokers: Sequence[UsableBroker], partitions: int, replication_factor: int, dice: Dice) -> list[list[int]]:
    """Replicas for a number of partitions, the first of each to lead."""
    unfenced = sum(not broker.fenced for broker in brokers)
    if unfenced == 0:
        raise _refusal("All brokers are currently fenced, or have all their log directories cordoned.")
    if replication_factor > len(brokers):
        raise _refusal(
            f"The target replication factor of {replication_factor} cannot be reached because only {len(brokers)} "
            "broker(s) are registered or some brokers have all their log directories cordoned."
        )
    if len(brokers) == 1:  # no choice, and so no need to draw
        return [[brokers[0].id] for _ in range(partitions)]
    racks = _Racks(brokers, dice)
    return [racks.place(replication_factor) for _ in range(partitions)]


def _refusal(reason: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, reason)


class _Turns:
    """Brokers that take turns. Each partition begins one broker further."""

    def __init__(self, brokers: Iterable[int], dice: Dice) -> None:
        self.brokers = sorted(brokers)
        self._start = dice.randrange(len(self.brokers)) if self.brokers else 0
        self._taken = 0
        self._partition = 0

    def next(self, partition: int) -> int | None:
        """The next broker for this partition; None when it has them all."""
        if not self.brokers:
            return None
        if partition != self._partition:
            self._partition, self._taken = partition, 0
            self._start = (self._start + 1) % len(self.brokers)
        if self._taken == len(self.brokers):
            return None
        self._taken += 1
        return self.brokers[(self._start + self._taken - 1) % len(self.brokers)]


class _Rack:
    def __init__(self, brokers: Sequence[UsableBroker], dice: Dice) -> None:
        self.fenced = _Turns((broker.id for broker in brokers if broker.fenced), dice)
        self.unfenced = _Turns((broker.id for broker in brokers if not broker.fenced), dice)

    def next(self, partition: int) -> int | None:
        found = self.unfenced.next(partition)
        return self.fenced.next(partition) if found is None else found


class _Racks:
    def __init__(self, brokers: Sequence[UsableBroker], dice: Dice) -> None:
        self._dice = dice
        names = sorted({broker.rack for broker in brokers}, key=lambda name: (name is not None, name or ""))
        self._racks = [_Rack([broker for broker in brokers if broker.rack == name], dice) for name in names]
        self._start = dice.randrange(len(names))
        self._unfenced = sum(not broker.fenced for broker in brokers)
        self._partition = 0  # since the last shuffle

    def place(self, replication_factor: int) -> list[int]:
        """One partition's replicas."""
        if self._partition == self._unfenced > 1:
            self._shuffle()
        count = len(self._racks)
        self._start %= count
        leaders_rack, leader = self._lead()
        replicas, rack, skip = [leader], self._start, leaders_rack
        while len(replicas) < replication_factor:
            if rack == skip:
                skip = -1  # the leader's rack has had its first turn
            else:
                found = self._racks[rack].next(self._partition)
                if found is not None:
                    replicas.append(found)
            rack = (rack + 1) % count
        self._partition += 1
        self._start += 1
        return replicas

    def _lead(self) -> tuple[int, int]:
        """The first rack from the start on that has an unfenced broker, and that broker."""
        count = len(self._racks)
        for rack in (index % count for index in range(self._start, self._start + count)):
            leader = self._racks[rack].unfenced.next(self._partition)
            if leader is not None:
                return rack, leader
        raise AssertionError("place() has seen an unfenced broker")

    def _shuffle(self) -> None:
        shuffle(self._racks, self._dice)
        for rack in self._racks:
            shuffle(rack.fenced.brokers, self._dice)
            shuffle(rack.unfenced.brokers, self._dice)
        self._partition = 0


def shuffle(items: MutableSequence[ItemT], dice: Dice) -> None:
    """Bring items into any order."""
    for last in range(len(items) - 1, 0, -1):
        other = dice.randrange(last + 1)
        items[last], items[other] = items[other], items[last]
