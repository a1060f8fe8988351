"""Offsets and groups that nobody needs any more go by themselves (KIP-211).

From time to time all groups are looked at, a bounded number of offsets per tick, so that no tick takes long. When an
offset may expire is the group's to say; a group without offsets and members goes as well.
"""

from functools import partial
from typing import Final

from kafkish.coordinators.effects import StoredRecord, Unobserved
from kafkish.coordinators.groups.group import Group
from kafkish.coordinators.groups.records import offset_tombstone
from kafkish.coordinators.groups.state import ShardState
from kafkish.coordinators.inputs import Now
from kafkish_protocol.stored.offset_commit import OffsetCommitValue

_KEY: Final = ("expiry",)
_OFFSETS_PER_TICK: Final = 5_000
_RECORDS_PER_WRITE: Final = 1_000  # stays well below `max.message.bytes`


def schedule_expiry(shard: ShardState, now: Now) -> None:
    """Look at all groups when the interval has passed."""
    due_ms = now.monotonic_ms + shard.settings.offsets_retention_check_interval_ms
    shard.deadlines.set(_KEY, due_ms, partial(_begin, shard))


def _begin(shard: ShardState, now: Now) -> None:
    _go_on(shard, list(shard.groups), now)


def _go_on(shard: ShardState, group_ids: list[str], now: Now) -> None:
    records: list[StoredRecord] = []
    looked_at = 0
    while group_ids and looked_at < _OFFSETS_PER_TICK:
        group_id = group_ids.pop()
        looked_at += 1 + shard.offsets.count(group_id)
        if group := shard.groups.get(group_id):
            records += _expired(shard, group, now)
    for start in range(0, len(records), _RECORDS_PER_WRITE):
        shard.outbox.write(records[start : start + _RECORDS_PER_WRITE], Unobserved())
    if group_ids:
        shard.deadlines.set(_KEY, now.monotonic_ms + 1, partial(_go_on, shard, group_ids))
    else:
        schedule_expiry(shard, now)


def _expired(shard: ShardState, group: Group, now: Now) -> list[StoredRecord]:
    """Tombstones of the group's expired offsets; and of the group, last, if nothing keeps it."""
    retention_ms = shard.settings.offsets_retention_ms
    records = [
        offset_tombstone(group.group_id, topic, partition)
        for topic, partitions in shard.offsets.of_group(group.group_id).items()
        if not group.is_subscribed_to(topic)
        for partition, value in partitions.items()
        if _is_expired(group, value, retention_ms, now.wall_ms)
    ]
    if group.is_disposable and len(records) == shard.offsets.count(group.group_id):
        records += group.tombstones()
    return records


def _is_expired(group: Group, value: OffsetCommitValue, retention_ms: int, wall_ms: int) -> bool:
    start_ms = group.retention_start_ms(value.commit_timestamp)
    if start_ms is None:
        return False
    if value.expire_timestamp != -1:  # the client said how long (OffsetCommit until version 4)
        return wall_ms >= value.expire_timestamp
    return wall_ms - start_ms >= retention_ms
