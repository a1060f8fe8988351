"""Ids of log directories (KIP-858). The first hundred are reserved; three of them have a meaning."""

from collections.abc import Collection
from typing import Final

from kafkish_protocol.types import Uuid

MIGRATING: Final = Uuid(bytes(16))
"""Some directory, chosen before directories had ids."""
UNASSIGNED: Final = Uuid((1).to_bytes(16, "big"))
"""The broker has not chosen yet."""
LOST: Final = Uuid((2).to_bytes(16, "big"))
"""A directory that went offline and was not known."""


def is_reserved(directory: Uuid) -> bool:
    """Whether no broker may name a directory so. Kafka compares signed: the upper half of the numbers is reserved."""
    return directory[:8] == bytes(8) and int.from_bytes(directory[8:], "big", signed=True) < 100


def is_online(directory: Uuid, online: Collection[Uuid]) -> bool:
    """Whether a replica there can be served by a broker with these directories."""
    if directory in (UNASSIGNED, MIGRATING):
        return True
    # A broker without directories registered before they had ids: it would have stopped if it had none (KAFKA-16162).
    return directory != LOST and (not online or directory in online)
