"""What members of a generation are told by JoinGroup and SyncGroup."""

from kafkish.coordinators.groups.classic.group import ClassicGroup
from kafkish.coordinators.groups.classic.member import Member
from kafkish_protocol.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from kafkish_protocol.messages.sync_group import SyncGroupResponse


def joined(
    group: ClassicGroup, member: Member, *, leader_id: str | None = None, skip_assignment: bool = False
) -> JoinGroupResponse:
    """The member belongs to the current generation. The leader learns who else does: it assigns.

    `leader_id` is for a leader that came back under a new id and must not notice: told an id that is not its own, it
    takes itself for a follower and assigns nothing.
    """
    shown_leader_id = leader_id or group.leader_id or ""
    return JoinGroupResponse(
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=shown_leader_id,
        skip_assignment=skip_assignment,
        member_id=member.member_id,
        members=_everyone(group) if shown_leader_id == member.member_id else [],
    )


def _everyone(group: ClassicGroup) -> list[JoinGroupResponseMember]:
    return [
        JoinGroupResponseMember(
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            metadata=member.metadata(group.protocol_name),
        )
        for member in group.members.values()
    ]


def synced(group: ClassicGroup, member: Member) -> SyncGroupResponse:
    """What the leader has assigned to the member, as it wrote it; no bytes if it forgot the member."""
    return SyncGroupResponse(
        protocol_type=group.protocol_type, protocol_name=group.protocol_name, assignment=member.assignment
    )
