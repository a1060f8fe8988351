"""What any group can be asked, whatever protocol its members speak. Offsets and administration know no more of it."""

from typing import Protocol

from kafkish.coordinators.effects import StoredRecord
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.offset_commit import OffsetCommitRequest


class Group(Protocol):
    """One group of a shard, of any type."""

    group_id: str

    @property
    def type_name(self) -> str:
        """As ListGroups has it: `classic`."""
        ...

    @property
    def state_name(self) -> str:
        """As ListGroups has it: `Stable`."""
        ...

    @property
    def protocol_type(self) -> str:
        """`consumer`, `connect`, …; empty for a group that only stores offsets."""
        ...

    @property
    def is_disposable(self) -> bool:
        """Nobody is in it or about to be: it may go when its offsets have gone."""
        ...

    def check_commit(self, request: OffsetCommitRequest) -> ErrorCode:
        """May whoever sent this store offsets now?"""
        ...

    def check_offset_delete(self) -> ErrorCode:
        """May offsets be deleted, of topics that the group does not read?"""
        ...

    def check_delete(self) -> ErrorCode:
        """May the group be deleted with all its offsets?"""
        ...

    def is_subscribed_to(self, topic: str) -> bool:
        """Does a member read the topic, as far as the coordinator can tell?"""
        ...

    def retention_start_ms(self, commit_timestamp_ms: int) -> int | None:
        """Since when the retention of an offset committed then is counted; None while it must not expire (KIP-211)."""
        ...

    def tombstones(self) -> list[StoredRecord]:
        """The records that delete the group."""
        ...
