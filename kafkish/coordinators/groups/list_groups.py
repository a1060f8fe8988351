"""ListGroups (16): the groups of a shard.

Filters by state (version 4) and type (version 5) are names in any case; an empty filter lets all pass, an unknown name
none.
"""

from kafkish.coordinators.groups.group import Group
from kafkish.coordinators.groups.state import ShardState
from kafkish.coordinators.inputs import Caller, Now
from kafkish_protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse


def list_groups(shard: ShardState, request: ListGroupsRequest, caller: Caller, now: Now) -> None:  # noqa: ARG001
    """Answer at once."""
    states = {name.strip().lower() for name in request.states_filter}
    types = {name.lower() for name in request.types_filter}
    listed = [_listed(group) for group in shard.groups.values() if _passes(group, states, types)]
    shard.outbox.reply(caller.handle, ListGroupsResponse(groups=listed))


def _passes(group: Group, states: set[str], types: set[str]) -> bool:
    has_state = not states or group.state_name.lower() in states
    return has_state and (not types or group.type_name in types)


def _listed(group: Group) -> ListedGroup:
    return ListedGroup(
        group_id=group.group_id,
        protocol_type=group.protocol_type,
        group_state=group.state_name,
        group_type=group.type_name,
    )
