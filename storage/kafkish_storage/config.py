"""Settings, by the names and with the defaults of Kafka's topic and broker settings."""

from dataclasses import dataclass
from typing import Final

_DAY_MS: Final = 24 * 60 * 60 * 1000
NEVER: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class LogConfig:
    """What a topic says about its logs. Replaced as a whole, at any time (`Log.config`)."""

    cleanup_policy: frozenset[str] = frozenset({"delete"})
    delete_retention_ms: int = _DAY_MS
    file_delete_delay_ms: int = 60_000
    flush_messages: int = NEVER
    flush_ms: int = NEVER
    index_interval_bytes: int = 4096
    max_compaction_lag_ms: int = NEVER
    max_message_bytes: int = 1_048_588
    message_timestamp_type: str = "CreateTime"
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    preallocate: bool = False
    retention_bytes: int = -1
    retention_ms: int = 7 * _DAY_MS
    segment_bytes: int = 1_073_741_824
    segment_index_bytes: int = 10_485_760
    segment_jitter_ms: int = 0
    segment_ms: int = 7 * _DAY_MS

    @property
    def compact(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def delete(self) -> bool:
        return "delete" in self.cleanup_policy

    @property
    def uses_log_append_time(self) -> bool:
        return self.message_timestamp_type == "LogAppendTime"


@dataclass(frozen=True, slots=True)
class ProducerConfig:
    """What a broker says about producers."""

    producer_id_expiration_ms: int = _DAY_MS
    transaction_max_timeout_ms: int = 15 * 60 * 1000
    transaction_partition_verification_enable: bool = True


@dataclass(frozen=True, slots=True)
class CleanerConfig:
    """What a broker says about compaction: `log.cleaner.*`."""

    dedupe_buffer_bytes: int = 128 * 1024 * 1024
    io_buffer_bytes: int = 512 * 1024
    io_buffer_load_factor: float = 0.9
