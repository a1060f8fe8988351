"""Groups and codecs with clients of other languages: franz-go, sarama and KafkaJS."""

from collections.abc import Callable, Iterator
from typing import Any

import batches
import control
import pytest
from brokers import Broker
from clients.families import confluent
from programs import FRANZ, PROGRAMS, SARAMA, MemberProgram, Program
from waiting import until
from wire import Wire

Start = Callable[..., MemberProgram]


def each(programs: tuple[Program, ...], *kinds: str) -> Any:
    """Parameters of a test: every program with everything that it has of these kinds."""
    cases = [
        pytest.param(program, *rest, marks=getattr(pytest.mark, program.needs[0]), id="-".join((program.name, *rest)))
        for program in programs
        for rest in ([(value,) for value in getattr(program, kinds[0])] if kinds else [()])
    ]
    return pytest.mark.parametrize(("program", *(kind.rstrip("s") for kind in kinds)), cases, indirect=["program"])


@pytest.fixture
def program(request: pytest.FixtureRequest) -> Program:
    """A program that is built and can be called."""
    wanted: Program = request.param
    wanted.command()
    return wanted


@pytest.fixture
def start(broker: Broker, group: str) -> Iterator[Start]:
    """Starts members of one group, and ends them with the test."""
    started: list[MemberProgram] = []

    def one(program: Program, topic: str, assignor: str = "", instance: str = "") -> MemberProgram:
        wanted = assignor or program.assignors[0]
        started.append(MemberProgram(program, broker.address, group, topic, wanted, instance))
        return started[-1]

    yield one
    for each_one in started:
        each_one.kill()


def wait_for_shares(members: list[MemberProgram], partitions: int, sizes: list[int]) -> None:
    """Wait until the members hold every partition once, in shares of these sizes."""

    def shared() -> bool:
        shares = [member.assignment for member in members]
        return sorted(map(len, shares)) == sorted(sizes) and set().union(*shares) == set(range(partitions))

    until(shared, f"shares of {sizes}")


def wait_for_members(wire: Wire, group: str, count: int) -> None:
    """Wait until so many have joined, those without a partition too."""

    def joined() -> bool:
        described = control.describe_group(wire, group)
        return described.group_state == "Stable" and len(described.members) == count

    until(joined, f"{count} members")


def fill(wire: Wire, topic: str, partitions: int, first: int, count: int) -> None:
    for number in range(first, first + count):
        control.produce(wire, topic, batches.values(b"%d" % number), number % partitions)


def expect_all_read(members: list[MemberProgram], count: int) -> None:
    wanted = {str(number) for number in range(count)}
    until(lambda: {value for member in members for value in member.values} >= wanted, f"{count} values")


@each(PROGRAMS, "assignors")
def test_member_without_partitions_stays_and_takes_over(
    wire: Wire, start: Start, make_topic: Callable[..., str], group: str, program: Program, assignor: str
) -> None:
    topic = make_topic(2)
    members = [start(program, topic, assignor) for _ in range(3)]
    wait_for_members(wire, group, 3)
    wait_for_shares(members, 2, [0, 1, 1])
    fill(wire, topic, 2, 0, 10)
    expect_all_read(members, 10)
    leaving = next(member for member in members if member.assignment)
    leaving.leave()
    staying = [member for member in members if member is not leaving]
    wait_for_shares(staying, 2, [1, 1])
    fill(wire, topic, 2, 10, 10)
    expect_all_read(members, 20)


@pytest.mark.go
@pytest.mark.node
def test_member_that_is_killed_in_the_midst_of_a_rebalance_is_left_behind(
    broker: Broker, wire: Wire, make_topic: Callable[..., str], fresh: Callable[[str], str]
) -> None:
    """With every program at once, since each waits for a session to end."""
    topics = {program.name: make_topic(2) for program in PROGRAMS}
    groups = {program.name: fresh("group") for program in PROGRAMS}
    members: dict[str, list[MemberProgram]] = {program.name: [] for program in PROGRAMS}

    def join(program: Program) -> None:
        name, assignor = program.name, program.assignors[0]
        members[name].append(MemberProgram(program, broker.address, groups[name], topics[name], assignor, ""))

    try:
        for program in PROGRAMS:
            join(program)
            join(program)
        for program in PROGRAMS:
            wait_for_shares(members[program.name], 2, [1, 1])
            members[program.name][0].freeze()
            join(program)
        for program in PROGRAMS:
            group = groups[program.name]
            until(lambda group=group: state(wire, group) == "PreparingRebalance", "the others wait for the frozen one")
            members[program.name][0].kill()
        for program in PROGRAMS:
            wait_for_shares(members[program.name][1:], 2, [1, 1])
            fill(wire, topics[program.name], 2, 0, 10)
            expect_all_read(members[program.name][1:], 10)
    finally:
        for started in members.values():
            for member in started:
                member.kill()


def state(wire: Wire, group: str) -> str:
    told: str = control.describe_group(wire, group).group_state
    return told


@each((FRANZ, SARAMA))
def test_static_member_returns_to_its_share(
    wire: Wire, start: Start, make_topic: Callable[..., str], group: str, program: Program
) -> None:
    topic = make_topic(2)
    first, second = (start(program, topic, instance=name) for name in ("first", "second"))
    wait_for_shares([first, second], 2, [1, 1])
    share = second.assignment
    ids = {member.member_id for member in control.describe_group(wire, group).members}
    second.kill()
    again = start(program, topic, instance="second")
    until(lambda: again.assignment == share, "the same share")
    after = control.describe_group(wire, group).members
    assert len(ids & {member.member_id for member in after}) == 1, "the other one has not even noticed"
    fill(wire, topic, 2, 0, 10)
    expect_all_read([first, again], 10)


@each(PROGRAMS, "codecs")
def test_codec_is_stored_and_read(
    broker: Broker, wire: Wire, start: Start, topic: str, program: Program, codec: str
) -> None:
    values = [f"{number} {'the same words ' * 20}" for number in range(50)]
    sent = program.produce(broker.address, topic, codec, values)
    assert sent[0]["sent"] == [0, 0]
    stored = {batch.compression_type for batch in batches.read(control.fetch(wire, topic, 0).records)}
    assert stored == {batches.CODECS[codec]}
    assert [record.value for record in confluent.Family(broker.address).read(topic, 50)] == [
        value.encode() for value in values
    ]
    member = start(program, topic)
    until(lambda: member.values == values, "what was written")
