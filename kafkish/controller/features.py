"""Features of Kafka 4.3: their levels, what each level needs, and which a new cluster gets.

A feature is switched on for the whole cluster, at a level that every node supports (KIP-584, KIP-1022). Level 0 is off.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from kafkish.metadata import versions
from kafkish.metadata.nodes import VersionRange


class Level(NamedTuple):
    """One level of a feature."""

    since: int  # the metadata.version with which a new cluster gets it
    needs: Mapping[str, int] = {}  # other features, and at least which level


_OFF: Final = Level(versions.OLDEST_LEVEL)

FEATURES: Final[Mapping[str, tuple[Level, ...]]] = {
    versions.KRAFT_VERSION: (_OFF, Level(21)),
    versions.TRANSACTION_VERSION: (_OFF, Level(24), Level(24)),
    versions.GROUP_VERSION: (_OFF, Level(22)),
    versions.ELR_VERSION: (_OFF, Level(26, {versions.METADATA_VERSION: versions.ELIGIBLE_LEADER_REPLICAS})),
    versions.SHARE_VERSION: (_OFF, Level(28)),
    versions.STREAMS_VERSION: (_OFF, Level(29)),
}
"""Levels from 0 on; all but `metadata.version`."""

KAFKA_FEATURES: Final[Mapping[str, VersionRange]] = {
    versions.METADATA_VERSION: VersionRange(versions.OLDEST_LEVEL, versions.LATEST_LEVEL),
    **{name: VersionRange(0, len(levels) - 1) for name, levels in FEATURES.items()},
}
"""What a node supports that does all that Kafka 4.3 does."""


def default_level(name: str, metadata_version: int) -> int:
    """The level that a new cluster at this `metadata.version` gets."""
    return max(level for level, it in enumerate(FEATURES[name]) if it.since <= metadata_version)


def missing_need(name: str, level: int, levels: Mapping[str, int]) -> str | None:
    """What a level depends on that these levels do not have."""
    for other, needed in FEATURES[name][level].needs.items():
        if levels.get(other, 0) < needed:
            return f"{name} could not be set to {level} because it depends on {other} level {needed}"
    return None
