"""Delivery state of share partitions, in `__share_group_state`."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import CoordinatorKey, CoordinatorValue, Struct
from kafkish_protocol.types import UUID, Array, Int8, Int16, Int32, Int64, String, Uuid


class ShareSnapshotKey(CoordinatorKey, api_key=0, versions="0", flexible="none"):
    group_id: str = field(String, "0")
    topic_id: Uuid = field(UUID, "0")
    partition: int = field(Int32, "0")


class StateBatch(Struct):
    first_offset: int = field(Int64, "0+")
    last_offset: int = field(Int64, "0+")
    delivery_state: int = field(Int8, "0+")
    delivery_count: int = field(Int16, "0+")


class ShareSnapshotValue(CoordinatorValue, api_key=0, versions="0", flexible="0+"):
    snapshot_epoch: int = field(Int32, "0+")
    state_epoch: int = field(Int32, "0+")
    leader_epoch: int = field(Int32, "0+")
    start_offset: int = field(Int64, "0+")
    delivery_complete_count: int = field(Int32, "0+", tag=0, tagged="0+", default=-1)
    create_timestamp: int = field(Int64, "0+")
    write_timestamp: int = field(Int64, "0+")
    state_batches: list[StateBatch] = field(Array(StateBatch), "0+")


class ShareUpdateKey(CoordinatorKey, api_key=1, versions="0", flexible="none"):
    group_id: str = field(String, "0")
    topic_id: Uuid = field(UUID, "0")
    partition: int = field(Int32, "0")


class ShareUpdateValue(CoordinatorValue, api_key=1, versions="0", flexible="0+"):
    snapshot_epoch: int = field(Int32, "0+")
    leader_epoch: int = field(Int32, "0+")
    start_offset: int = field(Int64, "0+")
    delivery_complete_count: int = field(Int32, "0+", tag=0, tagged="0+", default=-1)
    state_batches: list[StateBatch] = field(Array(StateBatch), "0+")
