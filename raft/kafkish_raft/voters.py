"""Who votes: voters under their keys, and the voter sets that the log has held (KIP-853).

Knows nothing of elections or messages. A voter set counts from the moment its record is in the log, committed or not;
truncation of the log takes it back.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, NewType, TypeAlias

NodeId: TypeAlias = int
DirectoryId = NewType("DirectoryId", bytes)

NO_DIRECTORY: Final = DirectoryId(bytes(16))  # of a voter that is configured by its node id alone
STATIC: Final = 0  # kraft.version 0: the voters are those of the configuration
DYNAMIC: Final = 1  # kraft.version 1: the voters are those of the log, each with the directory id of its disk


class ReplicaKey(NamedTuple):
    """A node together with its disk: a node that comes back with an empty disk is another replica."""

    id: NodeId
    directory_id: DirectoryId = NO_DIRECTORY


def is_same_replica(voter: ReplicaKey, replica: ReplicaKey) -> bool:
    """Whether a voter's key means this replica. A voter without a directory id is known by its node id alone."""
    return voter == replica or (voter.id == replica.id and voter.directory_id == NO_DIRECTORY)


class Endpoint(NamedTuple):
    name: str
    host: str
    port: int


Endpoints: TypeAlias = tuple[Endpoint, ...]


class Voter(NamedTuple):
    """A voter as the voters record describes it."""

    key: ReplicaKey
    endpoints: Endpoints = ()
    min_supported_version: int = STATIC
    max_supported_version: int = DYNAMIC

    def supports(self, version: int) -> bool:
        return self.min_supported_version <= version <= self.max_supported_version


@dataclass(frozen=True, slots=True)
class VoterSet:
    """Voters by node id, in the order of their ids. Changes make a new set."""

    by_id: Mapping[NodeId, Voter] = field(default_factory=dict)

    @classmethod
    def of(cls, voters: Iterable[Voter]) -> "VoterSet":
        return cls({voter.key.id: voter for voter in sorted(voters, key=lambda voter: voter.key.id)})

    def __iter__(self) -> Iterator[Voter]:
        return iter(self.by_id.values())

    def __len__(self) -> int:
        return len(self.by_id)

    @property
    def majority(self) -> int:
        return len(self.by_id) // 2 + 1

    def contains(self, key: ReplicaKey) -> bool:
        voter = self.by_id.get(key.id)
        return voter is not None and is_same_replica(voter.key, key)

    def endpoints(self, node_id: NodeId) -> Endpoints:
        voter = self.by_id.get(node_id)
        return voter.endpoints if voter else ()

    def needs_update(self, voter: Voter) -> bool:
        """Whether the set knows this replica, but with other endpoints or versions."""
        return self.contains(voter.key) and self.by_id[voter.key.id] != voter

    def with_voter(self, voter: Voter) -> "VoterSet":
        return VoterSet.of([*(other for other in self if other.key.id != voter.key.id), voter])

    def without(self, node_id: NodeId) -> "VoterSet":
        return VoterSet.of(voter for voter in self if voter.key.id != node_id)


NO_VOTERS: Final = VoterSet()


class LeaderChange(NamedTuple):
    """Control record: the first of an epoch. A leader commits nothing before it is committed."""

    leader_id: NodeId
    voters: tuple[ReplicaKey, ...]
    granting_voters: tuple[ReplicaKey, ...]


class KRaftVersion(NamedTuple):
    """Control record: the finalized kraft.version."""

    version: int


class Voters(NamedTuple):
    """Control record: the voter set from here on."""

    voters: VoterSet


ControlRecord: TypeAlias = LeaderChange | KRaftVersion | Voters


class Control(NamedTuple):
    """A control record at its place. Those of a snapshot stand at the snapshot's last offset: its end offset - 1."""

    offset: int
    record: ControlRecord


class _Membership(NamedTuple):
    """What holds from an offset on. `voters_offset` is where its voter set stands, None if that is the configured."""

    offset: int
    version: int
    voters: VoterSet
    voters_offset: int | None


class VoterHistory:
    """The voter sets and kraft.versions between log start and log end."""

    __slots__ = ("_entries", "version", "voters", "voters_offset")

    def __init__(self, static: VoterSet) -> None:
        self._entries = [_Membership(-2, STATIC, static, None)]
        self._refresh()

    def add(self, controls: Iterable[Control]) -> None:
        """Take what was appended. The same record may be told twice."""
        for offset, record in controls:
            last = self._entries[-1]
            if isinstance(record, Voters) and (last.voters_offset is None or offset > last.voters_offset):
                self._entries.append(_Membership(offset, last.version, record.voters, offset))
            elif isinstance(record, KRaftVersion) and record.version != last.version:
                self._entries.append(last._replace(offset=offset, version=record.version))
        self._refresh()

    def replace(self, controls: Iterable[Control]) -> None:
        """A snapshot took the place of the whole log."""
        del self._entries[1:]
        self.add(controls)

    def truncate(self, end_offset: int) -> None:
        """The log now ends here: an uncommitted change behind it never happened."""
        self._entries = [entry for entry in self._entries if entry.offset < end_offset]
        self._refresh()

    def at(self, end_offset: int) -> tuple[int, VoterSet | None]:
        """The kraft.version and voter set of a log that ends here; no set if the log holds none."""
        entry = [entry for entry in self._entries if entry.offset < end_offset][-1]
        return entry.version, None if entry.voters_offset is None else entry.voters

    def _refresh(self) -> None:
        _, self.version, self.voters, self.voters_offset = self._entries[-1]
