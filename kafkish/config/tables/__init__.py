"""Every config of Kafka 4.3 and of kafkish, by name."""

from typing import Final

from kafkish.config.rules import at_least
from kafkish.config.tables.broker_access import ACCESS
from kafkish.config.tables.broker_coordination import COORDINATION
from kafkish.config.tables.broker_data import DATA
from kafkish.config.tables.columns import CLUSTER, LONG
from kafkish.config.tables.group import CLIENT_METRICS_ROWS, GROUP_ROWS
from kafkish.config.tables.own import OWN_ROWS
from kafkish.config.tables.topic import TOPIC_ROWS
from kafkish.config.types import MAX_LONG, Config

TOPIC: Final = {row.name: row for row in TOPIC_ROWS}
GROUP: Final = {row.name: row for row in GROUP_ROWS}
CLIENT_METRICS: Final = {row.name: row for row in CLIENT_METRICS_ROWS}
BROKER: Final = {row.name: row for row in (*DATA, *COORDINATION, *ACCESS, *OWN_ROWS)}

QUOTA: Final = {
    name: Config(name, LONG, MAX_LONG, at_least(0), CLUSTER)
    for name in (
        "leader.replication.throttled.rate",
        "follower.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    )
}
"""Broker configs that live in the metadata only: never in server.properties, described only when set."""
