"""What the broker uses of its configs, by concern, with Python's types.

A field is named as its config: `log_dirs` is `log.dirs`, `flush_before_ack` is `kafkish.flush.before.ack`.
The few other names are in RENAMED. To use one more config, add a field. Configs that no field names are accepted and
without effect. Named tuples, since as many data classes would cost 12 ms of start-up and these cost 2.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from kafkish.config.addresses import Address, Listener, Voter, parse_address, parse_voters
from kafkish.config.listeners import (
    advertised_listeners,
    connection_limits,
    controller_listener_names,
    inter_broker_listener_name,
    listeners,
)
from kafkish.config.node import NodeConfigs
from kafkish.config.tables import BROKER

RENAMED: Final = {
    "socket_listen_backlog": "socket.listen.backlog.size",
    "max_partitions_per_request": "max.request.partition.size.limit",
    "log_cleaner_dedupe_buffer_bytes": "log.cleaner.dedupe.buffer.size",
    "log_cleaner_io_buffer_bytes": "log.cleaner.io.buffer.size",
    "group_max_members": "group.max.size",
    "group_consumer_max_members": "group.consumer.max.size",
    "offsets_load_buffer_bytes": "offsets.load.buffer.size",
    "transaction_state_log_load_buffer_bytes": "transaction.state.log.load.buffer.size",
    "metadata_log_max_record_bytes": "metadata.log.max.record.bytes.between.snapshots",
}
"""Fields whose config's name has no unit, or is a sentence."""


class NodeSettings(NamedTuple):
    """Who this node is."""

    node_id: int
    process_roles: tuple[str, ...]
    broker_rack: str | None
    cluster_id: str | None
    """None: the id in meta.properties, or a new one."""


class NetworkSettings(NamedTuple):
    """Where to listen, and how much to take from whom."""

    listeners: tuple[Listener, ...]
    advertised_listeners: tuple[Listener, ...] | None
    """None: each client is told the address that it dialled."""
    controller_listener_names: tuple[str, ...]
    inter_broker_listener_name: str
    max_connections: int
    max_connections_per_ip: int
    max_connections_per_ip_overrides: Mapping[str, int]
    max_connection_creation_rate: int
    connections_max_idle_ms: int
    connection_failed_authentication_delay_ms: int
    socket_listen_backlog: int
    socket_send_buffer_bytes: int
    socket_receive_buffer_bytes: int
    socket_request_max_bytes: int
    queued_max_requests: int
    queued_max_request_bytes: int
    request_timeout_ms: int
    read_timeout_ms: int
    write_timeout_ms: int


class TopicSettings(NamedTuple):
    """How topics come and go."""

    auto_create_topics_enable: bool
    delete_topic_enable: bool
    num_partitions: int
    default_replication_factor: int
    max_partitions_per_request: int


class LogSettings(NamedTuple):
    """Where logs lie, and their upkeep."""

    log_dirs: tuple[str, ...]
    flush_before_ack: bool
    num_recovery_threads_per_data_dir: int
    log_dir_failure_timeout_ms: int
    log_initial_task_delay_ms: int
    log_retention_check_interval_ms: int
    log_flush_scheduler_interval_ms: int
    log_flush_offset_checkpoint_interval_ms: int
    log_flush_start_offset_checkpoint_interval_ms: int
    log_cleaner_enable: bool
    log_cleaner_threads: int
    log_cleaner_backoff_ms: int
    log_cleaner_dedupe_buffer_bytes: int
    log_cleaner_io_buffer_bytes: int
    log_cleaner_io_buffer_load_factor: float
    log_cleaner_io_max_bytes_per_second: float


class FetchSettings(NamedTuple):
    """Limits of what a fetch may take."""

    fetch_max_bytes: int
    max_incremental_fetch_session_cache_slots: int


class ReplicationSettings(NamedTuple):
    """Followers, leaders and their controller."""

    replica_lag_time_max_ms: int
    replica_fetch_max_bytes: int
    replica_fetch_min_bytes: int
    replica_fetch_wait_max_ms: int
    replica_fetch_response_max_bytes: int
    replica_fetch_backoff_ms: int
    replica_socket_timeout_ms: int
    replica_high_watermark_checkpoint_interval_ms: int
    replica_selector_class: str | None
    num_replica_fetchers: int
    auto_leader_rebalance_enable: bool
    leader_imbalance_check_interval_seconds: int
    unclean_leader_election_interval_ms: int
    controlled_shutdown_enable: bool
    broker_heartbeat_interval_ms: int
    broker_session_timeout_ms: int
    initial_broker_registration_timeout_ms: int


class GroupSettings(NamedTuple):
    """Groups and their offsets. What a group may set for itself is in `effective`."""

    group_min_session_timeout_ms: int
    group_max_session_timeout_ms: int
    group_initial_rebalance_delay_ms: int
    group_max_members: int
    group_coordinator_rebalance_protocols: tuple[str, ...]
    group_consumer_assignors: tuple[str, ...]
    group_consumer_max_members: int
    group_consumer_migration_policy: str
    group_consumer_regex_refresh_interval_ms: int
    offset_metadata_max_bytes: int
    offsets_commit_timeout_ms: int
    offsets_load_buffer_bytes: int
    offsets_retention_minutes: int
    offsets_retention_check_interval_ms: int
    offsets_topic_num_partitions: int
    offsets_topic_replication_factor: int
    offsets_topic_segment_bytes: int
    offsets_topic_compression_codec: int


class TransactionSettings(NamedTuple):
    """Transactions and producer ids."""

    transaction_max_timeout_ms: int
    transaction_abort_timed_out_transaction_cleanup_interval_ms: int
    transaction_remove_expired_transaction_cleanup_interval_ms: int
    transaction_partition_verification_enable: bool
    transaction_two_phase_commit_enable: bool
    transaction_state_log_num_partitions: int
    transaction_state_log_replication_factor: int
    transaction_state_log_min_isr: int
    transaction_state_log_segment_bytes: int
    transaction_state_log_load_buffer_bytes: int
    transactional_id_expiration_ms: int
    producer_id_expiration_ms: int
    producer_id_expiration_check_interval_ms: int


class QuorumSettings(NamedTuple):
    """The quorum and its metadata log."""

    controller_quorum_voters: tuple[Voter, ...]
    controller_quorum_bootstrap_servers: tuple[Address, ...]
    controller_quorum_auto_join_enable: bool
    controller_quorum_election_timeout_ms: int
    controller_quorum_election_backoff_max_ms: int
    controller_quorum_fetch_timeout_ms: int
    controller_quorum_fetch_max_bytes: int
    controller_quorum_fetch_snapshot_max_bytes: int
    controller_quorum_append_linger_ms: int
    controller_quorum_request_timeout_ms: int
    controller_quorum_retry_backoff_ms: int
    metadata_log_dir: str
    metadata_log_segment_bytes: int
    metadata_log_segment_ms: int
    metadata_log_max_record_bytes: int
    """Bytes of records between two snapshots."""
    metadata_log_max_snapshot_interval_ms: int
    metadata_max_retention_bytes: int
    metadata_max_retention_ms: int
    metadata_max_idle_interval_ms: int


class MetricsSettings(NamedTuple):
    """What others may measure."""

    metrics_listen: tuple[Address, ...]
    """Empty: no HTTP port."""
    telemetry_max_bytes: int


class Settings(NamedTuple):
    """All of the above, and the layers that they were made from."""

    node: NodeSettings
    network: NetworkSettings
    topics: TopicSettings
    log: LogSettings
    fetch: FetchSettings
    replication: ReplicationSettings
    groups: GroupSettings
    transactions: TransactionSettings
    quorum: QuorumSettings
    metrics: MetricsSettings
    configs: NodeConfigs


GROUPS_OF_SETTINGS: Final[tuple[type[Any], ...]] = (
    NodeSettings, NetworkSettings, TopicSettings, LogSettings, FetchSettings, ReplicationSettings, GroupSettings,
    TransactionSettings, QuorumSettings, MetricsSettings,
)  # fmt: skip


def make_settings(configs: NodeConfigs) -> Settings:
    """Settings of configs that were checked; after a dynamic change, make them again."""
    values = {**configs.values, **_structured(configs)}
    groups = (group(*(values[config_of(field)] for field in group._fields)) for group in GROUPS_OF_SETTINGS)
    return Settings._make((*groups, configs))


def config_of(field: str) -> str:
    """The name of the config that a field holds."""
    name = RENAMED.get(field) or field.replace("_", ".")
    return name if name in BROKER else f"kafkish.{name}"


def _structured(configs: NodeConfigs) -> dict[str, Any]:
    """Values that are more than a text, a number or a list of texts."""
    log_dirs = configs.texts("log.dirs") or configs.texts("log.dir")
    bootstrap = "controller.quorum.bootstrap.servers"
    return {
        "listeners": listeners(configs),
        "advertised.listeners": advertised_listeners(configs),
        "controller.listener.names": controller_listener_names(configs),
        "inter.broker.listener.name": inter_broker_listener_name(configs),
        "max.connections.per.ip.overrides": connection_limits(configs),
        "controller.quorum.voters": parse_voters(configs.texts("controller.quorum.voters")),
        bootstrap: tuple(map(parse_address, configs.texts(bootstrap))),
        "kafkish.metrics.listen": tuple(map(parse_address, configs.texts("kafkish.metrics.listen"))),
        "log.dirs": log_dirs,
        "metadata.log.dir": configs.text("metadata.log.dir") or log_dirs[0],
    }
