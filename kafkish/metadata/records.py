"""A metadata record as bytes: what stands in the value of a record of `__cluster_metadata`.

    uvarint   version of this frame, 1
    uvarint   the record's type, Kafka's `apiKey`
    uvarint   the record's version
    ...       the record

Which version of a record to write follows from `metadata.version` (see `record_version`).
"""

from functools import cache
from typing import Final

from kafkish.metadata import versions
from kafkish_protocol.errors import CodecError, Malformed
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored import (
    metadata_nodes,
    metadata_security,
    metadata_settings,
    metadata_topics,
    metadata_transactions,
)
from kafkish_protocol.stored.metadata_nodes import BrokerRegistrationChangeRecord, RegisterBrokerRecord
from kafkish_protocol.stored.metadata_topics import PartitionChangeRecord, PartitionRecord
from kafkish_protocol.varint import read_uvarint, write_uvarint

FRAME_VERSION: Final = 1

_MODULES: Final = (metadata_nodes, metadata_security, metadata_settings, metadata_topics, metadata_transactions)


@cache
def record_classes() -> dict[int, type[MetadataRecord]]:
    """Every type of metadata record, by its number."""
    found = [value for module in _MODULES for value in vars(module).values() if isinstance(value, type)]
    kinds = [kind for kind in found if issubclass(kind, MetadataRecord) and kind is not MetadataRecord]
    return {kind.schema.api_key or 0: kind for kind in kinds}


def encode_record(record: MetadataRecord, version: int) -> bytes:
    """Frame and record as bytes."""
    out = bytearray(_frame(type(record), version))
    record.schema.encoders[version](record, out)
    return bytes(out)


@cache
def _frame(kind: type[MetadataRecord], version: int) -> bytes:
    """What stands before every record of this type and version."""
    out = bytearray()
    for number in (FRAME_VERSION, kind.schema.api_key or 0, version):
        write_uvarint(out, number)
    return bytes(out)


def decode_record(data: bytes) -> tuple[MetadataRecord, int]:
    """The record and its version; CodecError for anything that Kafka would not read either."""
    try:
        frame, position = read_uvarint(data, 0)
        kind, position = read_uvarint(data, position)
        version, position = read_uvarint(data, position)
    except (Malformed, IndexError) as error:
        raise CodecError(f"not a metadata record: {error}", offset=0) from error
    if frame != FRAME_VERSION:
        raise CodecError(f"frame version {frame} of a metadata record, only {FRAME_VERSION} is known", offset=0)
    record_class = record_classes().get(kind)
    if record_class is None:
        raise CodecError(f"unknown type of metadata record: {kind}", offset=1)
    if version not in record_class.schema.versions:
        name, known = record_class.schema.name, record_class.schema.versions
        raise CodecError(f"{name} has versions {known}, not {version}: this software is older than the log")
    record, end = record_class.schema.decoders[version](data, position)
    if end != len(data):
        raise CodecError(f"{len(data) - end} bytes after the record", message=record_class.schema.name, offset=end)
    return record, version


def record_version(record: MetadataRecord, metadata_version: int) -> int:
    """The version in which a cluster at this `metadata.version` writes a record."""
    if isinstance(record, PartitionRecord | PartitionChangeRecord):
        return _newest(metadata_version, versions.DIRECTORIES, versions.ELIGIBLE_LEADER_REPLICAS)
    if isinstance(record, RegisterBrokerRecord):
        return 1 + _newest(metadata_version, versions.MIGRATION, versions.DIRECTORIES, versions.CORDONED_DIRECTORIES)
    if isinstance(record, BrokerRegistrationChangeRecord):
        return _lowest_that_carries(record)
    return 0


@cache
def _newest(metadata_version: int, *levels: int) -> int:
    """How many of these levels the cluster has reached: each brought one more version of the record."""
    return sum(metadata_version >= level for level in levels)


def _lowest_that_carries(record: BrokerRegistrationChangeRecord) -> int:
    """Kafka writes the lowest version that has the fields which change."""
    if record.cordoned_log_dirs is not None:
        return 3
    if record.log_dirs:
        return 2
    return 1 if record.in_controlled_shutdown else 0
