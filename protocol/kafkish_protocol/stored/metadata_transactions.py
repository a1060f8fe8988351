"""Metadata transactions (KIP-868): records that take effect together, in `__cluster_metadata`."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.types import String


class BeginTransactionRecord(MetadataRecord, api_key=23, versions="0", flexible="0+"):
    name: str | None = field(String, "0+", nullable="0+", tag=0, tagged="0+", default=None)


class EndTransactionRecord(MetadataRecord, api_key=24, versions="0", flexible="0+"):
    """Has no fields."""


class AbortTransactionRecord(MetadataRecord, api_key=25, versions="0", flexible="0+"):
    reason: str | None = field(String, "0+", nullable="0+", tag=0, tagged="0+", default=None)


class NoOpRecord(MetadataRecord, api_key=20, versions="0", flexible="0+"):
    """Has no fields."""
