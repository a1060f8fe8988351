"""Committed offsets, in `__consumer_offsets`."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import CoordinatorKey, CoordinatorValue
from kafkish_protocol.types import UUID, Int32, Int64, String, Uuid


class LegacyOffsetCommitKey(CoordinatorKey, api_key=0, versions="0", flexible="none"):
    group: str = field(String, "0")
    topic: str = field(String, "0")
    partition: int = field(Int32, "0")


class LegacyOffsetCommitValue(CoordinatorValue, api_key=0, versions="0", flexible="none"):
    offset: int = field(Int64, "0")
    metadata: str = field(String, "0")
    commit_timestamp: int = field(Int64, "0")


class OffsetCommitKey(CoordinatorKey, api_key=1, versions="0", flexible="none"):
    group: str = field(String, "0")
    topic: str = field(String, "0")
    partition: int = field(Int32, "0")


class OffsetCommitValue(CoordinatorValue, api_key=1, versions="0-4", flexible="4+"):
    offset: int = field(Int64, "0+")
    leader_epoch: int = field(Int32, "3+", default=-1, ignorable=True)
    metadata: str = field(String, "0+")
    commit_timestamp: int = field(Int64, "0+")
    expire_timestamp: int = field(Int64, "1", default=-1, ignorable=True)
    topic_id: Uuid = field(UUID, "4+", tag=0, tagged="4+", ignorable=True)
