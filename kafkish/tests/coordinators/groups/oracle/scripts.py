"""What both coordinators are asked. A script may look at answers, but sends the same to whoever answers the same."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

from kafkish.tests.coordinators.groups import requests
from kafkish.tests.coordinators.groups.oracle.sides import MAX_MEMBERS, Side
from kafkish_protocol.messages.leave_group import LeaveGroupRequest
from kafkish_protocol.messages.list_groups import ListGroupsRequest
from kafkish_protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from kafkish_protocol.schema import Request

Script = Callable[[Side], None]
Odd = tuple[str, Request, int]

SESSION_MS = 45_000
TWO = {"range": requests.subscription("t"), "roundrobin": requests.subscription("t")}


# -- whole lives


def join_new(side: Side, group: str, version: int = 9, instance: str | None = None, **options: object) -> str:
    """Join until there is a generation; the member's id."""
    request = requests.join(group, instance=instance, session_ms=SESSION_MS, **options)  # type: ignore[arg-type]
    response = side.ask(request, version)
    if response.error_code == 79:
        response = side.ask(replace(request, member_id=response.member_id), version)
    assert response.error_code == 0, response
    member: str = response.member_id
    return member


def stable(side: Side, group: str, **options: object) -> str:
    """A stable group of one member."""
    member = join_new(side, group, **options)  # type: ignore[arg-type]
    side.ask(requests.sync(group, member, 1, {member: b"everything"}), 5)
    return member


def fetch_old(group: str, *, everything: bool) -> OffsetFetchRequest:
    topics = [OffsetFetchRequestTopic(name="t", partition_indexes=[1, 0, 7])]
    return OffsetFetchRequest(group_id=group, topics=None if everything else topics)


def leave(group: str, *members: str | tuple[str, str | None], version: int = 5) -> LeaveGroupRequest:
    """As every version has it."""
    request = requests.leave(group, *members)
    return replace(request, members=[]) if version < 3 else replace(request, member_id="")


def life_in_every_version(side: Side) -> None:
    """From the first join to the deletion, each time with the next version of each API."""
    for i in range(10):
        group = f"{side.prefix}v{i}"
        version = {"join": i, "sync": min(i, 5), "beat": min(i, 4), "leave": min(i, 5), "describe": min(i, 6)}
        member = join_new(side, group, version["join"])
        side.ask(requests.describe(group), version["describe"])
        side.ask(requests.sync(group, member, 1, {member: b"everything"}), version["sync"])
        side.ask(requests.heartbeat(group, member, 1), version["beat"])
        side.ask(requests.describe(group), version["describe"])
        side.ask(requests.commit(group, {("t", 0): 5, ("t", 1): 6}, member=member, generation=1), min(max(i, 2), 9))
        side.ask(fetch_old(group, everything=False), min(max(i, 1), 7))
        side.ask(fetch_old(group, everything=True), min(max(i, 2), 7))
        side.ask(requests.fetch(group, {"t": [1, 0, 7]}), 8 + i % 2)
        side.ask(leave(group, member, version=version["leave"]), version["leave"])
        side.ask(requests.describe(group), version["describe"])
        side.ask(requests.delete(group), min(i, 2))
        side.ask(requests.describe(group), version["describe"])


def two_members(side: Side) -> None:
    """A second member joins, the group rebalances, one leaves."""
    group = f"{side.prefix}pair"
    first = join_new(side, group, protocols=TWO)
    side.ask(requests.sync(group, first, 1, {first: b"everything"}), 5)
    second = side.ask(requests.join(group, protocols=requests.RANGE, session_ms=SESSION_MS), 9).member_id
    request = requests.join(group, second, protocols=requests.RANGE, session_ms=SESSION_MS)
    joining = side.start(request, 9)
    side.await_state(group, "PreparingRebalance")
    side.ask(requests.heartbeat(group, first, 1), 4)
    side.ask(requests.describe(group), 6)
    side.ask(requests.join(group, first, protocols=TWO, session_ms=SESSION_MS), 9)
    side.finish(joining)
    side.ask(requests.heartbeat(group, first, 2), 4)
    follower = side.start(requests.sync(group, second, 2), 5)
    side.ask(requests.sync(group, first, 2, {first: b"one half", second: b"the other"}), 5)
    side.finish(follower)
    side.ask(requests.describe(group), 6)
    side.ask(requests.commit(group, {("t", 0): 3}, member=first, generation=2, leader_epoch=4, metadata="note"), 9)
    side.ask(requests.commit(group, {("t", 0): 3}, member=first, generation=1), 9)
    side.ask(leave(group, second), 5)
    side.await_state(group, "PreparingRebalance")
    side.ask(requests.heartbeat(group, first, 2), 4)
    side.ask(requests.join(group, first, protocols=TWO, session_ms=SESSION_MS), 9)
    side.ask(leave(group, first, "nobody"), 5)
    side.ask(requests.describe(group), 6)


def static_members(side: Side) -> None:
    """A static member comes back, fences its former self, and is removed by an administrator."""
    group = f"{side.prefix}static"
    former = stable(side, group, instance="i")
    side.ask(requests.join(group, instance="i", session_ms=SESSION_MS), 9)
    former_beats = requests.heartbeat(group, former, 1, instance="i")
    side.ask(former_beats, 4)
    side.ask(requests.sync(group, former, 1, instance="i"), 5)
    side.ask(requests.commit(group, {("t", 0): 3}, member=former, generation=1, instance="i"), 9)
    side.ask(requests.join(group, former, instance="i", session_ms=SESSION_MS), 9)
    side.ask(requests.join(group, "stranger", instance="j", session_ms=SESSION_MS), 9)
    side.ask(requests.describe(group), 6)
    side.ask(leave(group, (former, "i"), ("", "unknown"), ("", "i")), 5)
    side.ask(requests.describe(group), 6)


def static_member_with_another_subscription(side: Side) -> None:
    """Comes back with something new to say: that is worth a generation."""
    group = f"{side.prefix}static-new"
    stable(side, group, instance="i", protocols=TWO)
    response = side.ask(requests.join(group, instance="i", session_ms=SESSION_MS), 9)
    side.ask(requests.sync(group, response.member_id, response.generation_id, {response.member_id: b"again"}), 5)
    side.ask(requests.describe(group), 6)


# -- odd requests, in every state of a group


def odd_requests(group: str, member: str) -> Iterator[Odd]:
    """Wrong in one way or another, or right only in some states. None changes a group's state."""
    for version, who in product((3, 4, 9), ("stranger", member)):
        yield "join without protocols", requests.join(group, who, protocols={}), version
        yield "join without a type", requests.join(group, who, protocol_type=""), version
    yield "join with another type", requests.join(group, member, protocol_type="connect"), 3
    yield "join with other protocols", requests.join(group, member, protocols={"sticky": b""}), 3
    yield "join as a stranger", requests.join(group, "stranger"), 9
    yield "join as a static stranger", requests.join(group, "stranger", instance="i"), 9
    yield "join a nameless group", requests.join("", ""), 9
    for session_ms in (499, 1_800_001, -1):
        yield f"join with a session of {session_ms} ms", requests.join(group, "", session_ms=session_ms), 9
    for generation, who in product((-1, 0, 1, 2), ("", "stranger", member)):
        if not (generation == 1 and who == member):
            yield f"sync {generation} {who}", requests.sync(group, who, generation), 5
            yield f"beat {generation} {who}", requests.heartbeat(group, who, generation), 4
            commit = requests.commit(group, {("t", 0): 1}, member=who, generation=generation)
            yield f"commit {generation} {who}", commit, 9
            yield f"commit {generation} {who}", commit, 2
    for protocol in (("connect", "range"), ("consumer", "sticky"), (None, "range")):
        yield f"sync with {protocol}", requests.sync(group, member, 1, protocol=protocol), 5
    yield "sync as an instance", requests.sync(group, member, 1, instance="i"), 5
    yield "beat as an instance", requests.heartbeat(group, member, 1, instance="i"), 4
    yield "beat for a nameless group", requests.heartbeat("", member, 1), 4
    yield "sync for a nameless group", requests.sync("", member, 1), 5
    yield "leave a nameless group", leave("", member), 5
    for version in (0, 2, 3, 5):
        yield "leave as a stranger", leave(group, "stranger", version=version), version
    yield "leave as an instance", leave(group, (member, "i"), ("", "i"), ("", None)), 5
    yield from odd_offset_requests(group, member)


def odd_offset_requests(group: str, member: str) -> Iterator[Odd]:
    long = requests.commit(group, {("t", 0): 1}, member=member, generation=1, metadata="m" * 4_097)
    yield "commit with too much metadata", long, 9
    yield "commit as an instance", requests.commit(group, {("t", 0): 1}, member=member, generation=1, instance="i"), 9
    yield "commit nothing", requests.commit(group, {}, member=member, generation=1), 9
    for version in (1, 2, 5, 7):
        yield "fetch some", fetch_old(group, everything=False), version
    yield "fetch from all", fetch_old(group, everything=True), 7
    for stable_only in (False, True):
        yield "fetch all", requests.fetch(group, None, stable=stable_only), 9
    twice = requests.fetch(group, {"t": [0, 0]})
    yield "fetch twice", replace(twice, groups=twice.groups * 2), 8
    yield "fetch of a nameless group", requests.fetch("", {"t": [0]}), 9
    yield "delete offsets", requests.delete_offsets(group, {"t": [1]}), 0
    yield "delete offsets of a nameless group", requests.delete_offsets("", {"t": [1]}), 0
    yield "describe", requests.describe(group, f"{group}-unknown", ""), 5
    yield "describe", requests.describe(group, f"{group}-unknown", ""), 6
    yield "describe with rights", replace(requests.describe(f"{group}-unknown"), include_authorized_operations=False), 3
    yield "delete unknown", requests.delete(f"{group}-unknown", "", f"{group}-unknown"), 2
    for states, types in product(
        ([], ["stable"], ["Empty", "nonsense"]), ([], ["classic"], ["Consumer"], ["nonsense"])
    ):
        yield f"list {states} {types}", ListGroupsRequest(states_filter=states, types_filter=types), 5


def ask_odd(side: Side, group: str, member: str) -> None:
    for _, request, version in odd_requests(group, member):
        side.ask(request, version)


def ask_newcomers(side: Side, group: str) -> None:
    """Requests to join that fail, of consumers without a member id."""
    for version in (3, 4, 9):
        side.ask(requests.join(group, "", protocols={}), version)
        side.ask(requests.join(group, "", protocol_type=""), version)
    if group.startswith(side.prefix):
        side.ask(requests.join(group, "", protocol_type="connect"), 3)
        side.ask(requests.join(group, "", protocols={"sticky": b""}), 3)


def odd_requests_to_no_group(side: Side) -> None:
    """Kafka makes a group of a request to join even if it refuses it; we do not, so what it writes is not compared."""
    ask_odd(side, f"{side.prefix}none", "member")
    ask_newcomers(side, "refused")


def odd_requests_to_offsets_only(side: Side) -> None:
    group = f"{side.prefix}simple"
    side.ask(requests.commit(group, {("t", 0): 1, ("t", 1): 2}), 9)
    ask_odd(side, group, "member")
    side.ask(requests.commit(group, {("t", 1): 2}, retention_ms=1_000_000), 4)
    side.ask(requests.delete_offsets(group, {"t": [1, 5]}), 0)
    side.ask(requests.delete(group), 2)


def odd_requests_to_a_group_that_waits_for_its_leader(side: Side) -> None:
    group = f"{side.prefix}completing"
    member = join_new(side, group)
    ask_odd(side, group, member)
    ask_newcomers(side, group)
    side.ask(requests.commit(group, {("t", 0): 1}, member=member, generation=1), 9)
    side.ask(requests.delete(group), 2)


def odd_requests_to_a_group_that_waits_for_its_members(side: Side) -> None:
    group = f"{side.prefix}preparing"
    first = stable(side, group)
    second = side.ask(requests.join(group, session_ms=SESSION_MS), 9).member_id
    joining = side.start(requests.join(group, second, session_ms=SESSION_MS), 9)
    side.await_state(group, "PreparingRebalance")
    ask_odd(side, group, first)
    ask_newcomers(side, group)
    side.ask(requests.sync(group, first, 1), 5)
    side.ask(requests.commit(group, {("t", 0): 1}, member=first, generation=1), 9)
    side.ask(requests.delete(group), 2)
    side.ask(requests.join(group, first, session_ms=SESSION_MS), 9)
    side.finish(joining)


def odd_requests_to_a_stable_group(side: Side) -> None:
    group = f"{side.prefix}stable"
    member = stable(side, group)
    ask_odd(side, group, member)
    ask_newcomers(side, group)
    side.ask(requests.delete(group, group), 2)
    side.ask(requests.delete_offsets(group, {"t": [0], "u": [0]}), 0)


def odd_requests_to_an_empty_group(side: Side) -> None:
    group = f"{side.prefix}left"
    member = stable(side, group)
    side.ask(requests.commit(group, {("t", 0): 1}, member=member, generation=1), 9)
    side.ask(leave(group, member), 5)
    ask_odd(side, group, member)
    side.ask(requests.delete(group), 2)


def group_of_another_kind(side: Side) -> None:
    """Such as Kafka Connect's workers: the protocol's words mean nothing to the coordinator."""
    group = f"{side.prefix}connect"
    member = join_new(side, group, protocol_type="connect", protocols={"sessioned": b"\xff", "eager": b""})
    side.ask(requests.sync(group, member, 1, {member: b"w"}, protocol=("connect", "sessioned")), 5)
    side.ask(requests.describe(group), 6)
    side.ask(requests.delete_offsets(group, {"t": [0]}), 0)
    side.ask(requests.commit(group, {("t", 0): 1}, member=member, generation=1), 9)
    side.ask(requests.delete_offsets(group, {"t": [0]}), 0)


# -- time


def silent_member(side: Side) -> None:
    """Is gone after its session, and its offsets stay."""
    group = f"{side.prefix}silent"
    member = side.ask(requests.join(group, session_ms=500), 3).member_id
    side.ask(requests.sync(group, member, 1, {member: b"everything"}), 5)
    side.ask(requests.commit(group, {("t", 0): 1}, member=member, generation=1), 9)
    side.await_state(group, "Empty")
    side.ask(requests.heartbeat(group, member, 1), 4)
    side.ask(requests.describe(group), 6)
    side.ask(requests.fetch(group, None), 9)


def member_that_does_not_join_again(side: Side) -> None:
    """The others wait as long as the slowest of them allows, and go on without."""
    group = f"{side.prefix}late"
    first = join_new(side, group, rebalance_ms=700)
    side.ask(requests.sync(group, first, 1, {first: b"everything"}), 5)
    side.finish(side.start(requests.join(group, session_ms=SESSION_MS, rebalance_ms=600), 3))
    side.ask(requests.heartbeat(group, first, 1), 4)
    side.ask(requests.describe(group), 6)


def leader_that_does_not_assign(side: Side) -> None:
    """Whoever does not ask for an assignment in time is put out of the group, the leader too (KIP-862)."""
    group = f"{side.prefix}idle"
    leader = join_new(side, group, rebalance_ms=500)
    second = side.start(requests.join(group, session_ms=SESSION_MS, rebalance_ms=500), 3)
    side.await_state(group, "PreparingRebalance")
    side.ask(requests.join(group, leader, session_ms=SESSION_MS, rebalance_ms=500), 9)
    follower = side.finish(second).member_id
    side.finish(side.start(requests.sync(group, follower, 2), 5))
    side.ask(requests.heartbeat(group, leader, 2), 4)
    side.ask(requests.join(group, follower, session_ms=SESSION_MS, rebalance_ms=500), 9)
    side.ask(requests.describe(group), 6)


def full_group(side: Side) -> None:
    """Takes nobody else, with or without an id."""
    group = f"{side.prefix}full"
    first = stable(side, group)
    asked = requests.join(group, session_ms=SESSION_MS)
    second = side.start(asked, 3)
    side.await_state(group, "PreparingRebalance")
    third = side.start(replace(asked, group_instance_id="i"), 9)
    side.await_members(group, MAX_MEMBERS)
    again = side.start(replace(asked, member_id=first), 9)
    for started in (second, third, again):
        side.finish(started)
    side.ask(asked, 3)
    side.ask(asked, 9)
    side.ask(replace(asked, group_instance_id="j"), 9)
    side.ask(requests.describe(group), 6)


SCRIPTS: tuple[Script, ...] = (
    life_in_every_version,
    two_members,
    static_members,
    static_member_with_another_subscription,
    odd_requests_to_no_group,
    odd_requests_to_offsets_only,
    odd_requests_to_a_group_that_waits_for_its_leader,
    odd_requests_to_a_group_that_waits_for_its_members,
    odd_requests_to_a_stable_group,
    odd_requests_to_an_empty_group,
    group_of_another_kind,
    silent_member,
    member_that_does_not_join_again,
    leader_that_does_not_assign,
    full_group,
)
