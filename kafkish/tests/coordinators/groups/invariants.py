"""What must hold of a shard of groups between any two events."""

from collections import Counter

from kafkish.coordinators.groups.classic.group import ClassicGroup, GroupState
from kafkish.coordinators.groups.shard import GroupShard
from kafkish.coordinators.groups.state import ShardState, join_key, session_key


def check_shard(shard: GroupShard, now_ms: int) -> None:
    """All groups are sound, and no timer lies in the past."""
    state = shard.state
    due_ms = state.deadlines.next_ms()
    assert due_ms is None or due_ms > now_ms - 1, f"a timer of {due_ms} was left behind at {now_ms}"
    for group_id, group in state.groups.items():
        assert group_id == group.group_id
        check_members(group)
        check_state(group)
        check_timers(state, group)


def check_members(group: ClassicGroup) -> None:
    """What is counted agrees with who is there."""
    members = group.members.values()
    assert [member.member_id for member in members] == list(group.members)
    assert group.joining_count == sum(member.joining is not None for member in members)
    supporters = Counter(name for member in members for name in member.names)
    assert +group._supporters == supporters
    static = {member.group_instance_id: member.member_id for member in members if member.is_static}
    assert group.static_member_ids == static
    assert not group.pending_member_ids & set(group.members)
    assert group.pending_sync_ids <= set(group.members)
    if members:
        assert group.leader_id in group.members
        assert group.choose_protocol() is not None
    else:
        assert group.leader_id is None


def check_state(group: ClassicGroup) -> None:
    """Who waits fits the state."""
    joining = {member.member_id for member in group.members.values() if member.joining}
    syncing = {member.member_id for member in group.members.values() if member.syncing}
    match group.state:
        case GroupState.EMPTY:
            assert not group.members
        case GroupState.PREPARING_REBALANCE:
            assert not syncing
            assert not group.pending_sync_ids
        case GroupState.COMPLETING_REBALANCE:
            assert group.members
            assert not joining
            assert not syncing & group.pending_sync_ids
        case GroupState.STABLE:
            assert group.members
            assert group.protocol_name is not None
            assert not syncing
            assert joining <= set(group.static_member_ids.values()), "only a static member that comes back waits here"
        case GroupState.DEAD:
            raise AssertionError("a dead group is still listed")


def check_timers(state: ShardState, group: ClassicGroup) -> None:
    """Nobody can be forgotten: somebody looks after every member and every rebalance."""
    timers = state.deadlines._timers
    for member in group.members.values():
        watched = session_key(group.group_id, member.member_id) in timers
        assert watched or member.is_excused_from_heartbeats, f"nobody watches {member}"
    for member_id in group.pending_member_ids:
        assert session_key(group.group_id, member_id) in timers
    assert (join_key(group.group_id) in timers) == (group.state is GroupState.PREPARING_REBALANCE)
