"""`metadata.version`: what the cluster has agreed to write, and what each level brought.

A level is a small number that only grows with Kafka's releases. Level 7 is 3.3-IV3, the oldest that Kafka 4 reads;
30 is 4.3-IV0, the last of Kafka 4.3. Names of the other features stand here too, since the image reads some of them.
"""

from typing import Final

METADATA_VERSION: Final = "metadata.version"
KRAFT_VERSION: Final = "kraft.version"
TRANSACTION_VERSION: Final = "transaction.version"
GROUP_VERSION: Final = "group.version"
ELR_VERSION: Final = "eligible.leader.replicas.version"
SHARE_VERSION: Final = "share.version"
STREAMS_VERSION: Final = "streams.version"

OLDEST_LEVEL: Final = 7
LATEST_LEVEL: Final = 30
"""4.3-IV0."""

MIGRATION: Final = 8
"""3.4-IV0: a broker may say that it comes from ZooKeeper."""
SCRAM: Final = 11
"""3.5-IV2: SCRAM credentials."""
KEEP_EPOCH_ON_ISR_SHRINK: Final = 12
"""3.6-IV0: a smaller ISR needs no new leader epoch (KAFKA-15021)."""
METADATA_TRANSACTIONS: Final = 13
"""3.6-IV1: KIP-868."""
DELEGATION_TOKENS: Final = 14
"""3.6-IV2."""
CONTROLLER_REGISTRATION: Final = 15
"""3.7-IV0: KIP-919."""
DIRECTORIES: Final = 17
"""3.7-IV2: replicas are assigned to log directories (KIP-858)."""
ELIGIBLE_LEADER_REPLICAS: Final = 23
"""4.0-IV1: KIP-966."""
CORDONED_DIRECTORIES: Final = 30
"""4.3-IV0: KIP-1066."""

LEVELS_WITH_NEW_RECORDS: Final = frozenset({7, 8, 11, 13, 14, 15, 17, 23, 30})
"""A cluster cannot go back below one of these: what it wrote since could not be read."""


def loses_metadata(from_level: int, to_level: int) -> bool:
    """Whether going down to a level would leave records behind that it cannot express."""
    return any(to_level < level <= from_level for level in LEVELS_WITH_NEW_RECORDS)
