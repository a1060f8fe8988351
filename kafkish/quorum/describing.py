"""What DescribeQuorum and `kafka-metadata-quorum` tell of the quorum (KIP-642, KIP-836). Only its leader knows."""

from typing import NamedTuple

from kafkish.quorum.quorum import Quorum
from kafkish_raft.states import Progress
from kafkish_raft.voters import Endpoints, ReplicaKey


class ReplicaState(NamedTuple):
    """How far a replica is; times are those of the wall, -1 if it was never heard of."""

    key: ReplicaKey
    log_end_offset: int
    last_fetch_ms: int
    last_caught_up_ms: int


class QuorumState(NamedTuple):
    """The quorum as its leader sees it."""

    leader_id: int
    leader_epoch: int
    high_watermark: int
    voters: list[ReplicaState]
    observers: list[ReplicaState]
    endpoints: dict[int, Endpoints]  # of the voters


def describe_quorum(quorum: Quorum) -> QuorumState | None:
    """None where this node does not lead: NOT_LEADER_OR_FOLLOWER."""
    raft = quorum.raft
    if raft.leader is None:
        return None
    voters, observers = raft.describe()
    return QuorumState(
        leader_id=quorum.settings.key.id,
        leader_epoch=raft.epoch,
        high_watermark=raft.high_watermark if raft.leader.is_established else -1,
        voters=[_state(quorum, progress) for progress in voters],
        observers=[_state(quorum, progress) for progress in observers],
        endpoints={voter.key.id: voter.endpoints for voter in raft.voters},
    )


def _state(quorum: Quorum, progress: Progress) -> ReplicaState:
    def wall_ms(then_ms: int | None) -> int:
        return -1 if then_ms is None else quorum.clock.wall_ms() - (quorum.raft.now_ms - then_ms)

    return ReplicaState(
        progress.key, progress.end_offset, wall_ms(progress.last_fetch_ms), wall_ms(progress.last_caught_up_ms)
    )
