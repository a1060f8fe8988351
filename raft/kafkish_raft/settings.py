"""What a replica is told once: who it is, whom it may ask, and how long it waits. Defaults are Kafka 4.3's."""

from dataclasses import dataclass

from kafkish_raft.voters import DYNAMIC, NO_VOTERS, STATIC, Endpoint, Endpoints, NodeId, ReplicaKey, Voter, VoterSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Times are the `controller.quorum.*` settings of the same names."""

    key: ReplicaKey
    endpoints: Endpoints = ()
    static_voters: VoterSet = NO_VOTERS
    """`controller.quorum.voters`: the voters as long as the log has no voter set."""
    bootstrap_servers: tuple[Endpoint, ...] = ()
    """`controller.quorum.bootstrap.servers`: whom to ask for the leader; the static voters if empty."""
    auto_join: bool = False
    """An observer asks to become a voter (KIP-1186)."""

    election_timeout_ms: int = 1_000
    fetch_timeout_ms: int = 2_000
    election_backoff_max_ms: int = 1_000
    request_timeout_ms: int = 2_000
    retry_backoff_ms: int = 20
    fetch_max_wait_ms: int = 500
    fetch_max_bytes: int = 1 << 20
    fetch_snapshot_max_bytes: int = 1 << 20
    observer_session_ms: int = 300_000
    max_observers: int = 1_000
    """Observers that a leader keeps an account of, and fetches that it holds back; more are served without."""

    @property
    def voter(self) -> Voter:
        """This node as its voter record should describe it."""
        return Voter(self.key, self.endpoints, STATIC, DYNAMIC)

    @property
    def check_quorum_timeout_ms(self) -> int:
        """How long a leader stays that hears no majority: longer than its followers wait for it."""
        return self.fetch_timeout_ms * 3 // 2

    @property
    def begin_epoch_interval_ms(self) -> int:
        """How often voters that do not fetch are told who leads."""
        return self.fetch_timeout_ms // 2

    def asked_for_leader(self) -> list[tuple[NodeId, Endpoints]]:
        """Nodes to ask for the leader. Servers whose ids are unknown get ids from -2 down, as in Kafka."""
        if self.bootstrap_servers:
            others = [server for server in self.bootstrap_servers if not self._is_own(server)]
            return [(-2 - index, (server,)) for index, server in enumerate(others)]
        return [(voter.key.id, voter.endpoints) for voter in self.static_voters if voter.key.id != self.key.id]

    def _is_own(self, server: Endpoint) -> bool:
        return any((server.host, server.port) == (own.host, own.port) for own in self.endpoints)
