"""What an operator can set about groups. The comments have Kafka's names."""

from typing import NamedTuple

_DAY_MS = 24 * 60 * 60 * 1000


class GroupSettings(NamedTuple):
    """Kafka's defaults."""

    min_session_timeout_ms: int = 6_000  # group.min.session.timeout.ms
    max_session_timeout_ms: int = 1_800_000  # group.max.session.timeout.ms
    initial_rebalance_delay_ms: int = 3_000  # group.initial.rebalance.delay.ms
    max_members: int = 2_147_483_647  # group.max.size
    new_member_join_timeout_ms: int = 300_000  # has no name in Kafka
    offset_metadata_max_chars: int = 4_096  # offset.metadata.max.bytes, which Kafka compares with characters
    offsets_retention_ms: int = 7 * _DAY_MS  # offsets.retention.minutes
    offsets_retention_check_interval_ms: int = 600_000  # offsets.retention.check.interval.ms
