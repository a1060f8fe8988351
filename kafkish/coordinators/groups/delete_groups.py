"""DeleteGroups (42): delete groups without members, with their offsets."""

from kafkish.coordinators.effects import StoredRecord
from kafkish.coordinators.groups.group import Group
from kafkish.coordinators.groups.records import offset_tombstone
from kafkish.coordinators.groups.state import ShardState
from kafkish.coordinators.inputs import Caller, Now
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse


def delete_groups(shard: ShardState, request: DeleteGroupsRequest, caller: Caller, now: Now) -> None:  # noqa: ARG001
    """Write tombstones for those that may go, and answer then. A group that is named twice is answered once."""
    errors = {group_id: _check(shard.groups.get(group_id)) for group_id in request.groups_names}
    doomed = [shard.groups[group_id] for group_id, error in errors.items() if not error]
    records = [record for group in doomed for record in _tombstones(shard, group)]
    results = [DeletableGroupResult(group_id=group_id, error_code=error) for group_id, error in errors.items()]
    shard.reply_when_committed(records, request, caller, DeleteGroupsResponse(results=results))


def _tombstones(shard: ShardState, group: Group) -> list[StoredRecord]:
    """The end of a group: of its offsets first, so that no offset brings it back."""
    offsets = [
        offset_tombstone(group.group_id, topic, partition)
        for topic, partitions in shard.offsets.of_group(group.group_id).items()
        for partition in partitions
    ]
    return offsets + group.tombstones()


def _check(group: Group | None) -> ErrorCode:
    return ErrorCode.GROUP_ID_NOT_FOUND if group is None else group.check_delete()
