"""Group configs and the configs of client metrics subscriptions.

The default of `consumer.session.timeout.ms` is the broker's `group.consumer.session.timeout.ms`, and so on.
"""

from typing import Final

from kafkish.config.rules import at_least, list_of, one_of, share_offset_reset
from kafkish.config.tables.columns import BOOLEAN, INT, LIST, STRING
from kafkish.config.types import Config, Update


def _row(name: str, default: int, minimum: int) -> Config:
    return Config(name, INT, default, at_least(minimum), Update.CLUSTER, synonyms=(f"group.{name}",))


GROUP_ROWS: Final = (
    # consumer groups (KIP-848)
    _row("consumer.session.timeout.ms", 45_000, 1),
    _row("consumer.heartbeat.interval.ms", 5000, 1),
    _row("consumer.assignment.interval.ms", 1000, 0),
    # share groups (KIP-932)
    _row("share.session.timeout.ms", 45_000, 1),
    _row("share.heartbeat.interval.ms", 5000, 1),
    _row("share.assignment.interval.ms", 1000, 0),
    _row("share.record.lock.duration.ms", 30_000, 1000),
    _row("share.delivery.count.limit", 5, 2),
    _row("share.partition.max.record.locks", 2000, 100),
    Config("share.auto.offset.reset", STRING, "latest", share_offset_reset),
    Config("share.isolation.level", STRING, "read_uncommitted", one_of("read_committed", "read_uncommitted")),
    Config("share.renew.acknowledge.enable", BOOLEAN, True),
    # streams groups (KIP-1071)
    _row("streams.session.timeout.ms", 45_000, 1),
    _row("streams.heartbeat.interval.ms", 5000, 1),
    _row("streams.assignment.interval.ms", 1000, 0),
    _row("streams.num.standby.replicas", 0, 0),
    _row("streams.initial.rebalance.delay.ms", 3000, 0),
)

CLIENT_METRICS_ROWS: Final = (
    # subscriptions (KIP-714)
    Config("metrics", LIST, (), list_of()),
    Config("interval.ms", INT, 300_000),
    Config("match", LIST, (), list_of()),
)
