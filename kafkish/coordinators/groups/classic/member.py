"""A member of a classic group."""

from dataclasses import dataclass
from typing import TypeAlias

from kafkish.coordinators.inputs import Caller

Protocols: TypeAlias = tuple[tuple[str, bytes], ...]  # name and metadata, the one that the member likes best first


@dataclass(slots=True, eq=False)
class Member:
    """What the coordinator knows of a member, and which of its requests waits for an answer."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: Protocols
    assignment: bytes = b""
    is_new: bool = False  # in its first rebalance: knows no member id yet, so cannot send heartbeats
    joining: Caller | None = None
    syncing: Caller | None = None

    @property
    def is_static(self) -> bool:
        return self.group_instance_id is not None

    @property
    def names(self) -> frozenset[str]:
        """The protocols that the member supports."""
        return frozenset(name for name, _ in self.protocols)

    @property
    def is_excused_from_heartbeats(self) -> bool:
        """Whoever waits for the group is alive, unless it is new: then nothing else would ever remove it."""
        return not self.is_new and (self.joining is not None or self.syncing is not None)

    def metadata(self, protocol_name: str | None) -> bytes:
        """What the member says to whoever assigns; bytes that mean nothing to the coordinator."""
        return next((metadata for name, metadata in self.protocols if name == protocol_name), b"")

    def vote(self, candidates: set[str]) -> str | None:
        """The candidate that the member likes best."""
        return next((name for name, _ in self.protocols if name in candidates), None)
