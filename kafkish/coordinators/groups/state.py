"""All that a shard holds, and how records change it.

Durable: `offsets` and `stored_groups`, changed by `replay` and by nothing else.
Live: `groups`, made of the durable state when the log has been read, and run by the protocols from then on; timers; and
the outbox of the call that is being handled.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from kafkish.coordinators.deadlines import Deadlines
from kafkish.coordinators.effects import Outbox, ReplyWhenCommitted, StoredRecord
from kafkish.coordinators.groups.classic.group import ClassicGroup, GroupState
from kafkish.coordinators.groups.offsets import Offsets
from kafkish.coordinators.groups.refusals import refuse
from kafkish.coordinators.groups.settings import GroupSettings
from kafkish.coordinators.inputs import Caller
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.stored.classic_group import GroupMetadataKey, GroupMetadataValue
from kafkish_protocol.stored.offset_commit import OffsetCommitKey, OffsetCommitValue


@dataclass(slots=True)
class ShardState:
    """What the operations of a shard work on."""

    settings: GroupSettings
    new_id: Callable[[], str]  # a fresh UUID, for member ids
    offsets: Offsets = field(default_factory=Offsets)
    stored_groups: dict[str, GroupMetadataValue | None] = field(default_factory=dict)  # None: known by offsets only
    groups: dict[str, ClassicGroup] = field(default_factory=dict)
    deadlines: Deadlines = field(default_factory=Deadlines)
    outbox: Outbox = field(default_factory=Outbox)
    is_live: bool = False  # the log has been replayed to its end

    def replay_group(self, key: GroupMetadataKey, value: GroupMetadataValue | None) -> None:
        """A live group is ahead of its record and stays as it is; but a deleted one goes."""
        if value is not None:
            self.stored_groups[key.group] = value
        else:
            self.stored_groups.pop(key.group, None)
            self.drop_group(key.group)

    def replay_offset(self, key: OffsetCommitKey, value: OffsetCommitValue | None) -> None:
        """A commit to a group that does not exist makes one without members."""
        self.offsets.replay(key, value)
        if value is not None and key.group not in self.stored_groups:
            self.stored_groups[key.group] = None
            if self.is_live and key.group not in self.groups:
                self.groups[key.group] = ClassicGroup(key.group)

    def go_live(self) -> None:
        """Make the groups of what the log says."""
        self.is_live = True
        for group_id, value in self.stored_groups.items():
            self.groups[group_id] = ClassicGroup.load(group_id, value) if value else ClassicGroup(group_id)

    def reply_when_committed(
        self, records: Sequence[StoredRecord], request: Request, caller: Caller, response: Response
    ) -> None:
        """Write, and answer then; without records, when all that was written before is committed."""
        self.outbox.write(
            records, ReplyWhenCommitted(caller.handle, response, partial(refuse, request, caller.api_version))
        )

    def refuse(self, request: Request, caller: Caller, error: ErrorCode) -> None:
        """Answer a request with an error that concerns all of it."""
        self.outbox.reply(caller.handle, refuse(request, caller.api_version, error))

    def drop_group(self, group_id: str) -> None:
        """Forget a live group and its timers. Nobody waits in it."""
        group = self.groups.pop(group_id, None)
        if group is None:
            return
        group.state = GroupState.DEAD
        for member_id in (*group.members, *group.pending_member_ids):
            self.deadlines.cancel(session_key(group_id, member_id))
        self.deadlines.cancel(join_key(group_id))
        self.deadlines.cancel(sync_key(group_id))


def session_key(group_id: str, member_id: str) -> tuple[str, str, str]:
    """The timer that removes a member which is not heard of."""
    return ("session", group_id, member_id)


def join_key(group_id: str) -> tuple[str, str]:
    """The timer that ends the wait for members to join."""
    return ("join", group_id)


def sync_key(group_id: str) -> tuple[str, str]:
    """The timer that ends the wait for members to ask for their assignment."""
    return ("sync", group_id)
