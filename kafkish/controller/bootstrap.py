"""The first records of a new cluster, and what a controller writes when it takes over.

Kafka's `format` decides on the levels of all features; the first controller writes them in one metadata transaction
(KIP-868), together with a `min.insync.replicas` for all brokers where eligible leader replicas need one (KIP-966).
"""

from collections.abc import Mapping

from kafkish.controller.config_checks import MIN_ISR
from kafkish.controller.features import FEATURES, default_level, missing_need
from kafkish.metadata import versions
from kafkish.metadata.image import ALL_BROKERS, MetadataImage
from kafkish.metadata.nodes import VersionRange
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_settings import ConfigRecord, FeatureLevelRecord
from kafkish_protocol.stored.metadata_transactions import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)


def bootstrap_levels(supported: Mapping[str, VersionRange], wanted: Mapping[str, int] | None = None) -> dict[str, int]:
    """Levels for a new cluster: those that are wanted, else the defaults, as far as this software supports them.

    `kraft.version` is among them, though it has no record: the quorum keeps it. ValueError for what cannot be.
    """
    wanted = wanted or {}
    unknown = wanted.keys() - supported.keys()
    if unknown:
        raise ValueError(f"unsupported feature {min(unknown)}; supported are {', '.join(sorted(supported))}")
    newest = supported[versions.METADATA_VERSION].high
    levels = {versions.METADATA_VERSION: wanted.get(versions.METADATA_VERSION, newest)}
    for name in (name for name in FEATURES if name in supported):
        default = min(default_level(name, levels[versions.METADATA_VERSION]), supported[name].high)
        levels[name] = wanted.get(name, default)
    for name, level in levels.items():
        low, high = supported[name]
        if not low <= level <= high:
            raise ValueError(f"{name} {level} is not supported, only {low} to {high}")
        problem = missing_need(name, level, levels) if name in FEATURES else None
        if problem is not None:
            raise ValueError(problem)
    return levels


def bootstrap_records(
    levels: Mapping[str, int], min_isr: int, more: list[MetadataRecord] | None = None
) -> list[MetadataRecord]:
    """The first records of a new cluster; `more` may hold credentials and the like."""
    metadata_version = levels[versions.METADATA_VERSION]
    records: list[MetadataRecord] = [FeatureLevelRecord(name=versions.METADATA_VERSION, feature_level=metadata_version)]
    others = levels.keys() - {versions.METADATA_VERSION, versions.KRAFT_VERSION}
    records += [FeatureLevelRecord(name=name, feature_level=levels[name]) for name in sorted(others) if levels[name]]
    records += more or []
    if levels.get(versions.ELR_VERSION, 0) > 0:
        kind, name = ALL_BROKERS
        records.append(ConfigRecord(resource_type=kind, resource_name=name, name=MIN_ISR, value=str(min_isr)))
    if metadata_version >= versions.METADATA_TRANSACTIONS:
        return [BeginTransactionRecord(name="Bootstrap records"), *records, EndTransactionRecord()]
    return records


def activation_records(
    image: MetadataImage,
    transaction_is_open: bool,
    levels: Mapping[str, int],
    min_isr: int,
    more: list[MetadataRecord] | None = None,
) -> list[MetadataRecord]:
    """What a controller writes before anything else: the end of what one before it left open, and the first records."""
    records: list[MetadataRecord] = (
        [AbortTransactionRecord(reason="Controller failover")] if transaction_is_open else []
    )
    if image.features.metadata_version is None:
        records += bootstrap_records(levels, min_isr, more)
    return records
