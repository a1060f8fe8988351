"""A topic's configs as its logs and its producers need them."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from kafkish.config.effective import topic_values
from kafkish.config.settings import Settings
from kafkish.partitions.validation import ProduceRules
from kafkish_protocol.records import Compression
from kafkish_storage import LogConfig

_LOG_FIELDS: Final = tuple(LogConfig.__dataclass_fields__)
_AS_PRODUCED: Final = "producer"
_UNCOMPRESSED: Final = "uncompressed"


class TopicSettings(NamedTuple):
    """What a topic's configs amount to."""

    log: LogConfig
    rules: ProduceRules
    min_isr: int


def topic_settings(overrides: Mapping[str, str], settings: Settings) -> TopicSettings:
    """The settings of a topic with these configs of its own on this node."""
    values = topic_values(overrides, settings.configs)
    values["cleanup_policy"] = frozenset(values["cleanup_policy"])
    if settings.log.flush_before_ack:
        values["flush_messages"] = 1
    log = LogConfig(**{name: values[name] for name in _LOG_FIELDS})
    return TopicSettings(log, _rules(values, settings), values["min_insync_replicas"])


def _rules(values: Mapping[str, Any], settings: Settings) -> ProduceRules:
    compression = _compression(values["compression_type"])
    level = None if compression is None else values.get(f"compression_{compression.name.lower()}_level")
    return ProduceRules(
        max_message_bytes=values["max_message_bytes"],
        compacted="compact" in values["cleanup_policy"],
        log_append_time=values["message_timestamp_type"] == "LogAppendTime",
        timestamp_before_max_ms=values["message_timestamp_before_max_ms"],
        timestamp_after_max_ms=values["message_timestamp_after_max_ms"],
        compression=compression,
        compression_level=level,
        max_unpacked_bytes=settings.network.socket_request_max_bytes,
    )


def _compression(name: str) -> Compression | None:
    if name == _AS_PRODUCED:
        return None
    return Compression.NONE if name == _UNCOMPRESSED else Compression[name.upper()]
