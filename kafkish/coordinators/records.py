"""A coordinator's records as bytes, as Kafka lays them out.

The key opens with an int16 that says what kind of record it is, the value with an int16 that says its version.
"""

from collections.abc import Mapping
from typing import TypeAlias

from kafkish.coordinators.effects import StoredRecord
from kafkish_protocol.errors import CodecError
from kafkish_protocol.schema import CoordinatorKey, CoordinatorValue

RecordKinds: TypeAlias = Mapping[int, tuple[type[CoordinatorKey], type[CoordinatorValue]]]

_KEY_VERSION = 0  # a new layout of a key gets a new kind


def encode_record(record: StoredRecord) -> tuple[bytes, bytes | None]:
    """The key and the value of the log's record."""
    kind = record.key.schema.api_key or 0
    key = kind.to_bytes(2, "big") + record.key.encode(_KEY_VERSION)
    if record.value is None:
        return key, None
    return key, record.value_version.to_bytes(2, "big") + record.value.encode(record.value_version)


def decode_record(
    kinds: RecordKinds, key: bytes | None, value: bytes | None
) -> tuple[CoordinatorKey, CoordinatorValue | None] | None:
    """What `replay` gets; None for a kind that is not in the table: a newer node wrote it, and it is left alone."""
    if key is None or len(key) < 2:
        raise CodecError("a coordinator's record without a key that says its kind")
    classes = kinds.get(int.from_bytes(key[:2], "big", signed=True))
    if classes is None:
        return None
    decoded_key = classes[0].decode(key, _KEY_VERSION, 2)
    if value is None:
        return decoded_key, None
    if len(value) < 2:
        raise CodecError("a value without a version", message=classes[1].schema.name)
    return decoded_key, classes[1].decode(value, int.from_bytes(value[:2], "big", signed=True), 2)
