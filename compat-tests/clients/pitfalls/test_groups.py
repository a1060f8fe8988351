"""Groups: rebalances stopped half way, static members, and offsets that must come back as they were committed."""

import contextlib
import random
from collections.abc import Callable, Iterator
from typing import Any

import control
import pytest
import raw_group
from brokers import Broker
from kafka.protocol.consumer import OffsetDeleteRequest
from waiting import now_ms, until
from wire import Wire


@pytest.fixture
def other(broker: Broker) -> Iterator[Wire]:
    """A second connection, for the second member."""
    with Wire(broker.address) as connected:
        yield connected


def two_members(wire: Wire, other: Wire, group: str) -> tuple[Any, Any]:
    """Join answers of a leader and a follower in one generation."""
    first = raw_group.new_member_id(wire, group)
    leader = raw_group.join(wire, group, first)
    raw_group.sync(wire, group, leader, {first: b""})
    second = raw_group.new_member_id(other, group)
    joining = raw_group.post_join(other, group, second)
    leader = raw_group.join(wire, group, first)
    return leader, other.receive(joining)


def test_follower_waits_for_the_leaders_assignment(wire: Wire, other: Wire, group: str) -> None:
    leader, follower = two_members(wire, other, group)
    assert leader.leader == follower.leader == leader.member_id
    waiting = raw_group.post_sync(other, group, follower)
    odd = bytes(range(256))
    mine = raw_group.sync(wire, group, leader, {leader.member_id: b"", follower.member_id: odd})
    theirs = other.receive(waiting)
    assert (mine.error_code, mine.assignment) == (0, b"")
    assert (theirs.error_code, theirs.assignment) == (0, odd), "assignments pass through as they are"


def test_member_that_the_leader_left_out_gets_an_empty_assignment(wire: Wire, other: Wire, group: str) -> None:
    leader, follower = two_members(wire, other, group)
    waiting = raw_group.post_sync(other, group, follower)
    raw_group.sync(wire, group, leader, {leader.member_id: b"all"})
    left_out = other.receive(waiting)
    assert (left_out.error_code, left_out.assignment) == (0, b"")


def test_member_that_does_not_rejoin_is_left_behind(wire: Wire, other: Wire, group: str) -> None:
    quick = {"rebalance_timeout_ms": 500}
    first = raw_group.new_member_id(wire, group, **quick)
    raw_group.sync(wire, group, raw_group.join(wire, group, first, **quick), {first: b""})
    second = raw_group.new_member_id(other, group, **quick)
    joined = raw_group.join(other, group, second, **quick)  # the first one is silent
    assert (joined.error_code, joined.leader) == (0, second)
    assert [member.member_id for member in joined.members] == [second]
    assert control.heartbeat(wire, group, 1, first) == 25  # unknown member


def test_member_whose_connection_ends_while_it_joins_does_not_keep_the_others_waiting(
    broker: Broker, wire: Wire, group: str
) -> None:
    first = raw_group.new_member_id(wire, group)
    raw_group.sync(wire, group, raw_group.join(wire, group, first), {first: b""})
    with Wire(broker.address) as dying:
        second = raw_group.new_member_id(dying, group)
        raw_group.post_join(dying, group, second)
        until(lambda: control.heartbeat(wire, group, 1, first) == control.REBALANCE_IN_PROGRESS, "the join is there")
    joined = raw_group.join(wire, group, first)
    assert joined.error_code == 0
    assert raw_group.sync(wire, group, joined, {first: b"mine"}).assignment == b"mine"
    generation = joined.generation_id

    def alone() -> bool:
        nonlocal generation
        if control.heartbeat(wire, group, generation, first) == control.REBALANCE_IN_PROGRESS:
            again = raw_group.join(wire, group, first)
            raw_group.sync(wire, group, again, {first: b""})
            generation = again.generation_id
            return [member.member_id for member in again.members] == [first]
        return [member.member_id for member in joined.members] == [first]

    until(alone, "the dead member is forgotten")


def test_member_id_is_required_of_new_clients_only(wire: Wire, fresh: Callable[[str], str]) -> None:
    for version in range(2, 10):
        group = fresh("group")
        control.wait_for_group(wire, group)
        answer = wire.send(raw_group.join_request(group), version)
        assert answer.error_code == (raw_group.MEMBER_ID_REQUIRED if version >= 4 else 0), version
        assert answer.member_id
    group = fresh("group")
    control.wait_for_group(wire, group)
    static = wire.send(raw_group.join_request(group, instance_id="i"), 9)
    assert (static.error_code, static.leader) == (0, static.member_id)


def test_static_member_that_rejoins_in_the_midst_of_a_rebalance_takes_over(wire: Wire, other: Wire, group: str) -> None:
    first = raw_group.join(wire, group, "", instance_id="i")  # and no sync: the group waits for its leader
    again = raw_group.join(other, group, "", instance_id="i")
    assert again.error_code == 0
    assert again.member_id != first.member_id
    assert control.heartbeat(wire, group, first.generation_id, first.member_id, "i") == raw_group.FENCED_INSTANCE_ID
    synced = raw_group.sync(other, group, again, {again.member_id: b"mine"}, instance_id="i")
    assert (synced.error_code, synced.assignment) == (0, b"mine")


def test_group_chooses_a_protocol_that_all_members_know(wire: Wire, other: Wire, group: str) -> None:
    both, one = {"range": b"", "sticky": b""}, {"sticky": b"s"}
    first = raw_group.new_member_id(wire, group, protocols=both)
    raw_group.sync(wire, group, raw_group.join(wire, group, first, protocols=both), {first: b""})
    second = raw_group.new_member_id(other, group, protocols=one)
    joining = raw_group.post_join(other, group, second, protocols=one)
    leader = raw_group.join(wire, group, first, protocols=both)
    assert leader.protocol_name == other.receive(joining).protocol_name == "sticky"
    assert {member.member_id: member.metadata for member in leader.members} == {first: b"", second: b"s"}
    stranger = wire.send(raw_group.join_request(group, protocols={"unknown": b""}), 3)
    assert stranger.error_code == 23  # inconsistent protocol


# -- offsets


def test_commit_keeps_metadata_and_leader_epoch(wire: Wire, topic: str, group: str) -> None:
    assert raw_group.commit(wire, group, topic, 0, 42, "as it was: \u00e9", epoch=0) == 0
    assert raw_group.committed(wire, group) == {(topic, 0): (42, 0, "as it was: \u00e9")}


def test_commit_for_a_partition_that_does_not_exist_is_refused(wire: Wire, topic: str, group: str) -> None:
    assert raw_group.commit(wire, group, topic, 9, 1) == 3


def delete_offset(wire: Wire, group: str, topic: str, partition: int) -> None:
    entry = OffsetDeleteRequest.OffsetDeleteRequestTopic
    part = entry.OffsetDeleteRequestPartition(partition_index=partition)
    request = OffsetDeleteRequest(group_id=group, topics=[entry(name=topic, partitions=[part])])
    control.expect(wire.send(request, 0).error_code, f"delete offset of {topic}-{partition} in {group}")


Committed = dict[tuple[str, int], tuple[int, int, str]]


def committed_by(wire: Wire, groups: list[str]) -> dict[str, Committed]:
    return {group: raw_group.committed(wire, group) for group in groups}


def commit_delete_and_let_expire(wire: Wire, topic: str, groups: list[str]) -> dict[str, Committed]:
    """Any mixture of commits, some of which are soon to expire, and deletions. What must be left in the end."""
    dice = random.Random(14)
    left: dict[str, Committed] = {group: {} for group in groups}
    for number in range(300):
        group, partition = dice.choice(groups), dice.randrange(5)
        place, kind = (topic, partition), dice.random()
        if kind < 0.2 and place in raw_group.committed(wire, group):
            with contextlib.suppress(AssertionError):  # it may expire in this moment, and the group with it
                delete_offset(wire, group, topic, partition)
            left[group].pop(place, None)
        elif kind < 0.5:
            code = raw_group.commit(wire, group, topic, partition, number, retention_ms=dice.choice((1, 100, 600)))
            control.expect(code, "commit for a while")
            left[group].pop(place, None)
        else:
            control.expect(raw_group.commit(wire, group, topic, partition, number, f"{number}"), "commit")
            left[group][place] = (number, -1, f"{number}")
    return left


@pytest.mark.owned
@pytest.mark.parametrize("how", ["stop", "kill"])
def test_committed_offsets_are_the_same_after_a_restart(
    broker: Broker, make_topic: Callable[..., str], fresh: Callable[[str], str], how: str
) -> None:
    topic, groups = make_topic(5), [fresh("group") for _ in range(4)]
    with Wire(broker.address) as wire:
        left = commit_delete_and_let_expire(wire, topic, groups)
        until(lambda: committed_by(wire, groups) == left, "only what was to expire is gone")
    (broker.stop if how == "stop" else broker.kill)()
    broker.start()
    with Wire(broker.address) as wire:
        for group in groups:
            control.wait_for_group(wire, group)
        assert committed_by(wire, groups) == left


def test_offset_expires_when_its_time_is_up_and_no_sooner(wire: Wire, topic: str, group: str) -> None:
    started_ms = now_ms()
    control.expect(raw_group.commit(wire, group, topic, 0, 7, retention_ms=1500), "commit for a while")
    assert raw_group.committed(wire, group)
    until(lambda: not raw_group.committed(wire, group), "the offset is gone")
    assert now_ms() - started_ms >= 1500


def test_commit_without_a_time_lifts_the_time_of_the_one_before(wire: Wire, topic: str, group: str) -> None:
    witness = f"{group}-witness"
    for each in (group, witness):
        control.expect(raw_group.commit(wire, each, topic, 0, 7, retention_ms=500), "commit for a while")
    control.expect(raw_group.commit(wire, group, topic, 0, 8), "commit for long")
    until(lambda: not raw_group.committed(wire, witness), "the witness's offset is gone")
    assert raw_group.committed(wire, group) == {(topic, 0): (8, -1, "")}
