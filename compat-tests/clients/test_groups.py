"""Groups of consumers share partitions, and go on when members come, leave, crash or return."""

from collections.abc import Callable, Iterable

import control
import pytest
from clients.families.base import Family, Partition, Record
from clients.member import Member, MemberProcess, join, member
from waiting import until
from wire import Wire


def partitions_of(topic: str, count: int) -> set[Partition]:
    return {(topic, number) for number in range(count)}


def wait_for_shares(members: Iterable[Member], every: set[Partition], sizes: list[int]) -> None:
    """Wait until the members hold every partition once, in shares of these sizes."""

    def shared() -> bool:
        shares = [member.assignment for member in members]
        return sorted(map(len, shares)) == sorted(sizes) and set().union(*shares) == every

    until(shared, f"shares of {sizes}")


def numbered(count: int, partitions: int, start: int = 0) -> list[Record]:
    return [Record(b"%d" % n, partition=n % partitions) for n in range(start, start + count)]


def test_members_share_partitions_and_take_over(
    family: Family, assignor: str, make_topic: Callable[..., str], group: str
) -> None:
    topic = make_topic(4)
    every = partitions_of(topic, 4)
    settings = {"partition.assignment.strategy": assignor}
    with member(family, group, [topic], settings) as first:
        wait_for_shares([first], every, [4])
        with member(family, group, [topic], settings) as second:
            wait_for_shares([first, second], every, [2, 2])
            family.produce(topic, numbered(40, 4))
            until(lambda: len(first.records + second.records) >= 40, "40 records")
            assert sorted(first.values() + second.values()) == sorted(b"%d" % n for n in range(40))
            assert {record.partition for record in first.records}.isdisjoint(r.partition for r in second.records)
            assert len(first.records) == len(second.records) == 20
        wait_for_shares([first], every, [4])
        family.produce(topic, numbered(8, 4, start=40))
        until(lambda: {b"%d" % n for n in range(40, 48)} <= set(first.values()), "what came after the other left")


def test_more_members_than_partitions_leaves_some_idle_and_ready(
    family: Family, make_topic: Callable[..., str], group: str
) -> None:
    topic = make_topic(2)
    members = [join(family, group, [topic]) for _ in range(3)]
    wait_for_shares(members, partitions_of(topic, 2), [0, 1, 1])
    working = next(joined for joined in members if joined.assignment)
    members.remove(working)
    working.leave()
    wait_for_shares(members, partitions_of(topic, 2), [1, 1])
    for joined in members:
        joined.leave()


def test_crashed_member_is_replaced_after_its_session(
    family: Family, make_topic: Callable[..., str], group: str
) -> None:
    topic = make_topic(2)
    every = partitions_of(topic, 2)
    crashing = MemberProcess(family, group, topic)
    try:
        until(lambda: crashing.assignment == every, "the other process has joined")
        with member(family, group, [topic]) as staying:
            until(lambda: len(staying.assignment) == len(crashing.assignment) == 1, "a share each")
            crashing.kill()
            wait_for_shares([staying], every, [2])
    finally:
        crashing.kill()


def generation(wire: Wire, group: str) -> int:
    """The group's generation, found by asking which one a heartbeat of a member may carry."""
    member_id = control.describe_group(wire, group).members[0].member_id
    codes = {number: control.heartbeat(wire, group, number, member_id) for number in range(20)}
    (current,) = [number for number, code in codes.items() if code in (0, control.REBALANCE_IN_PROGRESS)]
    return current


def test_static_member_returns_without_a_rebalance(
    family: Family, make_topic: Callable[..., str], group: str, wire: Wire
) -> None:
    topic = make_topic(4)
    every = partitions_of(topic, 4)
    with member(family, group, [topic], {"group.instance.id": "staying"}) as staying:
        crashing = MemberProcess(family, group, topic, {"group.instance.id": "returning"})
        until(lambda: len(staying.assignment) == len(crashing.assignment) == 2, "a share each")
        crashing.kill()
        before, kept = generation(wire, group), staying.assignment
        with member(family, group, [topic], {"group.instance.id": "returning"}) as returning:
            wait_for_shares([staying, returning], every, [2, 2])
            assert returning.assignment == crashing.assignment
            assert staying.assignment == kept
            assert generation(wire, group) == before


@pytest.mark.needs("fencing")
def test_second_owner_of_a_static_id_fences_the_first(
    family: Family, make_topic: Callable[..., str], group: str
) -> None:
    topic = make_topic(2)
    settings = {"group.instance.id": "only"}
    first = join(family, group, [topic], settings)
    until(lambda: len(first.assignment) == 2, "the first has joined")
    with member(family, group, [topic], settings) as second:
        until(lambda: len(second.assignment) == 2, "the second took over")
        until(lambda: first.error is not None, "the first is told")
        assert "fenced" in str(first.error).lower()
    first.leave()


def test_added_partitions_reach_the_group(
    family: Family, make_topic: Callable[..., str], group: str, wire: Wire
) -> None:
    topic = make_topic(1)
    with member(family, group, [topic], {"metadata.max.age.ms": 300}) as joined:
        wait_for_shares([joined], partitions_of(topic, 1), [1])
        control.add_partitions(wire, topic, 3)
        wait_for_shares([joined], partitions_of(topic, 3), [3])
        family.produce(topic, numbered(3, 3))
        until(lambda: len(joined.records) == 3, "a record of each partition")


def test_pattern_finds_topics_that_come_later(
    family: Family, make_topic: Callable[..., str], group: str, fresh: Callable[[str], str], wire: Wire
) -> None:
    prefix = fresh("pattern")
    names = [f"{prefix}.{number}" for number in range(2)]
    control.create_topic(wire, names[0])
    consumer = family.open_consumer(
        {"group.id": group, "metadata.max.age.ms": 300, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    )
    consumer.subscribe_pattern(f"{prefix}\\..*")
    joined = Member(consumer)
    wait_for_shares([joined], {(names[0], 0)}, [1])
    control.create_topic(wire, names[1])
    wait_for_shares([joined], {(name, 0) for name in names}, [2])
    joined.leave()
    for name in names:
        control.delete_topic(wire, name)


def test_group_goes_on_where_it_committed(family: Family, make_topic: Callable[..., str], group: str) -> None:
    topic = make_topic(1)
    family.produce(topic, numbered(10, 1))
    with member(family, group, [topic]) as first:
        until(lambda: len(first.records) == 10, "10 records")
        first.call(lambda consumer: consumer.commit({(topic, 0): (6, "")}))
    with member(family, group, [topic]) as second:
        until(lambda: len(second.records) == 4, "what was not committed")
        assert second.values() == [b"6", b"7", b"8", b"9"]


def test_automatic_commit_on_leaving(family: Family, make_topic: Callable[..., str], group: str) -> None:
    topic = make_topic(1)
    family.produce(topic, numbered(10, 1))
    with member(family, group, [topic], {"enable.auto.commit": True}) as first:
        until(lambda: len(first.records) == 10, "10 records")
    with family.admin() as admin:
        assert admin.group_offsets(group)[topic, 0][0] == 10


def test_groups_of_different_names_are_independent(
    family: Family, make_topic: Callable[..., str], fresh: Callable[[str], str]
) -> None:
    topic = make_topic(2)
    family.produce(topic, numbered(10, 2))
    groups = [fresh("one"), fresh("two")]
    with member(family, groups[0], [topic]) as one, member(family, groups[1], [topic]) as two:
        until(lambda: len(one.records) == len(two.records) == 10, "both groups read everything")
