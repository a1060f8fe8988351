"""Topic configs, with the broker configs that give their defaults."""

from typing import Final

from kafkish.config.rules import (
    at_least,
    between,
    compression_type,
    gzip_level,
    list_of,
    throttled_replicas,
    timestamp_type,
)
from kafkish.config.tables.columns import BOOLEAN, DOUBLE, INT, LIST, LONG, STRING
from kafkish.config.types import MAX_LONG, Config, ConfigType, Rule, Update, Value


def _row(name: str, type_: ConfigType, default: Value, rule: Rule | None, *synonyms: str) -> Config:
    return Config(name, type_, default, rule, Update.CLUSTER, synonyms=synonyms)


# fmt: off
TOPIC_ROWS: Final = (
    # segments and indexes
    _row("segment.bytes", INT, 1_073_741_824, at_least(1_048_576), "log.segment.bytes"),  # least: KIP-1030
    _row("segment.ms", LONG, 604_800_000, at_least(1), "log.roll.ms", "log.roll.hours"),
    _row("segment.jitter.ms", LONG, 0, at_least(0), "log.roll.jitter.ms", "log.roll.jitter.hours"),
    _row("segment.index.bytes", INT, 10_485_760, at_least(4), "log.index.size.max.bytes"),
    _row("index.interval.bytes", INT, 4096, at_least(0), "log.index.interval.bytes"),
    _row("preallocate", BOOLEAN, False, None, "log.preallocate"),
    _row("file.delete.delay.ms", LONG, 60_000, at_least(0), "log.segment.delete.delay.ms"),
    # flushing
    _row("flush.messages", LONG, MAX_LONG, at_least(1), "log.flush.interval.messages"),
    _row("flush.ms", LONG, MAX_LONG, at_least(0), "log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    # retention
    _row("cleanup.policy", LIST, ("delete",), list_of("compact", "delete"), "log.cleanup.policy"),
    _row("retention.bytes", LONG, -1, None, "log.retention.bytes"),
    _row("retention.ms", LONG, 604_800_000, at_least(-1),
         "log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    # compaction
    _row("delete.retention.ms", LONG, 86_400_000, at_least(0), "log.cleaner.delete.retention.ms"),
    _row("min.compaction.lag.ms", LONG, 0, at_least(0), "log.cleaner.min.compaction.lag.ms"),
    _row("max.compaction.lag.ms", LONG, MAX_LONG, at_least(1), "log.cleaner.max.compaction.lag.ms"),
    _row("min.cleanable.dirty.ratio", DOUBLE, 0.5, between(0, 1), "log.cleaner.min.cleanable.ratio"),
    # records
    _row("max.message.bytes", INT, 1_048_588, at_least(0), "message.max.bytes"),
    _row("compression.type", STRING, "producer", compression_type, "compression.type"),
    _row("compression.gzip.level", INT, -1, gzip_level, "compression.gzip.level"),
    _row("compression.lz4.level", INT, 9, between(1, 17), "compression.lz4.level"),
    _row("compression.zstd.level", INT, 3, between(-131_072, 22), "compression.zstd.level"),
    _row("message.timestamp.type", STRING, "CreateTime", timestamp_type, "log.message.timestamp.type"),
    _row("message.timestamp.before.max.ms", LONG, MAX_LONG, at_least(0), "log.message.timestamp.before.max.ms"),
    _row("message.timestamp.after.max.ms", LONG, 3_600_000, at_least(0), "log.message.timestamp.after.max.ms"),
    # replication
    _row("min.insync.replicas", INT, 1, at_least(1), "min.insync.replicas"),
    _row("unclean.leader.election.enable", BOOLEAN, False, None, "unclean.leader.election.enable"),
    _row("leader.replication.throttled.replicas", LIST, (), throttled_replicas),
    _row("follower.replication.throttled.replicas", LIST, (), throttled_replicas),
    # remote storage (KIP-405, KIP-950)
    _row("remote.storage.enable", BOOLEAN, False, None),
    _row("remote.log.copy.disable", BOOLEAN, False, None),
    _row("remote.log.delete.on.disable", BOOLEAN, False, None),
    _row("local.retention.ms", LONG, -2, at_least(-2), "log.local.retention.ms"),
    _row("local.retention.bytes", LONG, -2, at_least(-2), "log.local.retention.bytes"),
    # smaller segments than segment.bytes allows, for tests
    Config("internal.segment.bytes", INT, None, internal=True),
)
# fmt: on
