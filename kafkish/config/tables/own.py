"""Broker configs that Kafka does not have.

To add one: a row here with the prefix `kafkish.`, a field without the prefix in `settings`, a sentence in
`documentation`.
"""

from typing import Final

from kafkish.config.rules import addresses, at_least
from kafkish.config.tables.columns import BOOLEAN, INT, LIST, STRING
from kafkish.config.types import Config

OWN_ROWS: Final = (
    Config("kafkish.cluster.id", STRING, None),
    Config("kafkish.flush.before.ack", BOOLEAN, False),
    Config("kafkish.metrics.listen", LIST, (), addresses),
    # deadlines of a connection that has begun to send or to receive, and stalls
    Config("kafkish.read.timeout.ms", INT, 30_000, at_least(1)),
    Config("kafkish.write.timeout.ms", INT, 60_000, at_least(1)),
)
