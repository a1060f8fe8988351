"""The RPCs of the quorum, with Kafka's field names and error codes, reduced to the one partition that matters.

An adapter maps them one to one to the wire. It sets and checks cluster id, topic and partition. What the wire tells as
id and directory id is a ReplicaKey here; CurrentLeader and NodeEndpoints are `leader_…`. Records are opaque.
"""

from collections.abc import Sized
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

from kafkish_raft.ports import OffsetAndEpoch
from kafkish_raft.voters import Endpoints, NodeId, ReplicaKey, Voter

NO_LEADER: Final = -1
UNKNOWN_OFFSET: Final = -1


class ErrorCode(IntEnum):
    """Kafka's numbers."""

    NONE = 0
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    BROKER_NOT_AVAILABLE = 8
    UNSUPPORTED_VERSION = 35
    INVALID_REQUEST = 42
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 76
    INVALID_UPDATE_VERSION = 95
    SNAPSHOT_NOT_FOUND = 98
    POSITION_OUT_OF_RANGE = 99
    INVALID_VOTER_KEY = 125
    DUPLICATE_VOTER = 126
    VOTER_NOT_FOUND = 127


class ReadFrom(NamedTuple):
    """In place of records in a reply: read them from this offset of the log, or position of the snapshot, on."""

    position: int
    max_bytes: int  # of a log, one whole batch even if it is larger


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """As such, the answer to AddRaftVoter and RemoveRaftVoter."""

    error_code: int = ErrorCode.NONE
    error_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumResponse(Response):
    """Tells who leads which epoch. As such, the answer to BeginQuorumEpoch, EndQuorumEpoch and UpdateRaftVoter."""

    leader_id: NodeId = NO_LEADER
    leader_epoch: int
    leader_endpoints: Endpoints = ()


class VoteRequest(NamedTuple):
    voter_key: ReplicaKey
    replica_key: ReplicaKey
    replica_epoch: int
    last_offset_epoch: int
    last_offset: int
    pre_vote: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteResponse(QuorumResponse):
    vote_granted: bool = False


class BeginQuorumEpochRequest(NamedTuple):
    voter_key: ReplicaKey
    leader_id: NodeId
    leader_epoch: int
    leader_endpoints: Endpoints


class EndQuorumEpochRequest(NamedTuple):
    leader_id: NodeId
    leader_epoch: int
    preferred_candidates: tuple[ReplicaKey, ...]
    leader_endpoints: Endpoints


class FetchRequest(NamedTuple):
    replica_key: ReplicaKey
    current_leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    high_watermark: int
    max_wait_ms: int
    max_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResponse(QuorumResponse):
    high_watermark: int = UNKNOWN_OFFSET
    log_start_offset: int = UNKNOWN_OFFSET
    diverging_epoch: OffsetAndEpoch | None = None
    snapshot_id: OffsetAndEpoch | None = None
    records: Sized = b""


class FetchSnapshotRequest(NamedTuple):
    replica_key: ReplicaKey
    current_leader_epoch: int
    snapshot_id: OffsetAndEpoch
    position: int
    max_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSnapshotResponse(QuorumResponse):
    snapshot_id: OffsetAndEpoch | None = None
    size_bytes: int = 0
    position: int = 0
    unaligned_records: Sized = b""


class AddRaftVoterRequest(NamedTuple):
    """The versions of the voter are not on the wire: the adapter asks it for them (ApiVersions) before it tells."""

    voter: Voter
    ack_when_committed: bool = True


class RemoveRaftVoterRequest(NamedTuple):
    voter_key: ReplicaKey


class UpdateRaftVoterRequest(NamedTuple):
    current_leader_epoch: int
    voter: Voter


class UpgradeRequest(NamedTuple):
    """From the local controller: finalize a kraft.version (part of UpdateFeatures). No RPC of its own."""

    version: int
    epoch: int


Request: TypeAlias = (
    VoteRequest
    | BeginQuorumEpochRequest
    | EndQuorumEpochRequest
    | FetchRequest
    | FetchSnapshotRequest
    | AddRaftVoterRequest
    | RemoveRaftVoterRequest
    | UpdateRaftVoterRequest
    | UpgradeRequest
)
