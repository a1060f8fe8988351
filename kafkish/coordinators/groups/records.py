"""The records of `__consumer_offsets`, in the versions that Kafka 4.3 writes."""

from collections.abc import Mapping
from typing import Final

from kafkish.coordinators.effects import StoredRecord
from kafkish.coordinators.groups.classic.group import ClassicGroup
from kafkish.coordinators.records import RecordKinds
from kafkish_protocol.stored.classic_group import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from kafkish_protocol.stored.offset_commit import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)

KINDS: Final[RecordKinds] = {
    0: (LegacyOffsetCommitKey, LegacyOffsetCommitValue),
    1: (OffsetCommitKey, OffsetCommitValue),
    2: (GroupMetadataKey, GroupMetadataValue),
}

_GROUP_VERSION: Final = 3
_OFFSET_VERSION: Final = 4
_OFFSET_WITH_EXPIRY_VERSION: Final = 1  # the only one that has `expire_timestamp`


def group_record(group: ClassicGroup, assignments: Mapping[str, bytes]) -> StoredRecord:
    """The group with its members as they are, and what each is assigned."""
    value = GroupMetadataValue(
        protocol_type=group.protocol_type,
        generation=group.generation_id,
        protocol=group.protocol_name,
        leader=group.leader_id,
        current_state_timestamp=-1 if group.state_since_ms is None else group.state_since_ms,
        members=[
            MemberMetadata(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout=member.rebalance_timeout_ms,
                session_timeout=member.session_timeout_ms,
                subscription=member.metadata(group.protocol_name),
                assignment=assignments.get(member.member_id, b""),
            )
            for member in group.members.values()
        ],
    )
    return StoredRecord(GroupMetadataKey(group=group.group_id), value, _GROUP_VERSION)


def new_group_record(group_id: str, created_ms: int) -> StoredRecord:
    """A group that somebody is about to join."""
    value = GroupMetadataValue(protocol=None, leader=None, current_state_timestamp=created_ms)
    return StoredRecord(GroupMetadataKey(group=group_id), value, _GROUP_VERSION)


def offset_record(group_id: str, topic: str, partition: int, value: OffsetCommitValue) -> StoredRecord:
    """A committed offset."""
    version = _OFFSET_VERSION if value.expire_timestamp == -1 else _OFFSET_WITH_EXPIRY_VERSION
    return StoredRecord(OffsetCommitKey(group=group_id, topic=topic, partition=partition), value, version)


def offset_tombstone(group_id: str, topic: str, partition: int) -> StoredRecord:
    """A committed offset that is no more."""
    return StoredRecord(OffsetCommitKey(group=group_id, topic=topic, partition=partition), None)
