"""Puts a quorum together from the broker's settings."""

from kafkish.config.settings import Settings
from kafkish.quorum.formatting import Identity, controller_endpoints
from kafkish.quorum.metadata_log import MetadataLog
from kafkish.quorum.ports import Clock, Dice, Executor, PeerChannel
from kafkish.quorum.quorum import Quorum
from kafkish.quorum.snapshotting import SnapshotLimits, Snapshotter
from kafkish.quorum.vote_file import VoteFile
from kafkish.timers import Timers
from kafkish_raft import ports as raft
from kafkish_raft.voters import Endpoint, Endpoints, ReplicaKey, Voter, VoterSet
from kafkish_storage import Files, LogConfig
from kafkish_storage.directory import lock_directory


def open_quorum(
    settings: Settings,
    identity: Identity,
    files: Files,
    *,
    clock: Clock,
    timers: Timers,
    executor: Executor,
    dice: Dice,
    peers: PeerChannel | None = None,
) -> Quorum:
    """Open the metadata log, blocking. Then subscribe to what is of interest, and `start`."""
    path = identity.metadata_directory
    lock = None if path in identity.log_directories else lock_directory(files, path)  # theirs are locked with the logs
    log = MetadataLog(files, path, log_config(settings), clock, executor)
    votes = VoteFile(files, log.directory)
    own = raft_settings(settings, identity, has_peers=peers is not None)
    quorum = Quorum(own, log, votes, clock=clock, timers=timers, executor=executor, dice=dice, peers=peers)
    Snapshotter(quorum, files, snapshot_limits(settings))
    if lock is not None:
        quorum.on_closed.append(lock.release)
    return quorum


def snapshot_limits(settings: Settings) -> SnapshotLimits:
    quorum = settings.quorum
    return SnapshotLimits(
        max_record_bytes=quorum.metadata_log_max_record_bytes,
        max_interval_ms=quorum.metadata_log_max_snapshot_interval_ms,
        retention_bytes=quorum.metadata_max_retention_bytes,
        retention_ms=quorum.metadata_max_retention_ms,
    )


def log_config(settings: Settings) -> LogConfig:
    """The log never expires by itself: what a snapshot has made superfluous is deleted (see `snapshotting`)."""
    quorum = settings.quorum
    return LogConfig(
        retention_ms=-1,
        segment_bytes=quorum.metadata_log_segment_bytes,
        segment_ms=quorum.metadata_log_segment_ms,
    )


def raft_settings(settings: Settings, identity: Identity, *, has_peers: bool) -> raft.Settings:
    """`controller.quorum.*`. Without a channel there is nobody to ask, whatever is configured."""
    quorum = settings.quorum
    static = [
        Voter(ReplicaKey(voter.id), _endpoint(settings, *voter.address)) for voter in quorum.controller_quorum_voters
    ]
    servers = [_endpoint(settings, *address)[0] for address in quorum.controller_quorum_bootstrap_servers]
    return raft.Settings(
        key=identity.replica_key,
        endpoints=controller_endpoints(settings),
        static_voters=VoterSet.of(static),
        bootstrap_servers=tuple(servers) if has_peers else (),
        auto_join=quorum.controller_quorum_auto_join_enable,
        election_timeout_ms=quorum.controller_quorum_election_timeout_ms,
        fetch_timeout_ms=quorum.controller_quorum_fetch_timeout_ms,
        election_backoff_max_ms=quorum.controller_quorum_election_backoff_max_ms,
        request_timeout_ms=quorum.controller_quorum_request_timeout_ms,
        retry_backoff_ms=quorum.controller_quorum_retry_backoff_ms,
        fetch_max_bytes=quorum.controller_quorum_fetch_max_bytes,
        fetch_snapshot_max_bytes=quorum.controller_quorum_fetch_snapshot_max_bytes,
    )


def _endpoint(settings: Settings, host: str, port: int) -> Endpoints:
    names = settings.network.controller_listener_names
    return (Endpoint(names[0] if names else "CONTROLLER", host, port),)
