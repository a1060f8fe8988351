"""Where new replicas go: spread over racks and brokers, exactly as Kafka's own placer spreads them."""

import random
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import apache_kafka
import pytest

from kafkish.controller.operation import ApiError
from kafkish.controller.placement import UsableBroker, place, usable_brokers
from kafkish.controller.ports import Dice
from kafkish.tests.controller.cluster import Cluster

SOURCE = Path(__file__).parent / "java" / "Placement.java"


class JavaDice:
    """java.util.Random."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) & (2**48 - 1)

    def _next(self) -> int:
        self._state = (self._state * 0x5DEECE66D + 0xB) & (2**48 - 1)
        return self._state >> 17

    def randrange(self, stop: int) -> int:
        if stop & (stop - 1) == 0:
            return stop * self._next() >> 31
        while True:
            bits = self._next()
            if bits - bits % stop + stop - 1 < 2**31:
                return bits % stop


class NoDice:
    def randrange(self, _: int) -> int:
        return 0


def brokers(*racks: str | None, fenced: tuple[int, ...] = ()) -> list[UsableBroker]:
    return [UsableBroker(id, rack, id in fenced) for id, rack in enumerate(racks)]


def draw(dice: random.Random) -> tuple[int, int, int, list[UsableBroker]]:
    """Without racks any dice; with racks none, since Java draws for racks in the order of a hash table."""
    racks = dice.choice((["-"], ["-"], ["a", "b", "c"], ["a", "b"], ["-", "b", "c"]))
    seed = -1 if len(racks) > 1 else dice.randrange(1000)
    found = [
        UsableBroker(id, None if (rack := dice.choice(racks)) == "-" else rack, dice.random() < 0.3)
        for id in dice.sample(range(20), dice.randint(0, 8))
    ]
    return seed, dice.randint(1, 20), dice.randint(1, 5), found


@pytest.mark.kafka
def test_placement_is_kafkas(show: Callable[[str], None]) -> None:
    dice = random.Random(12)
    cases = [draw(dice) for _ in range(1000)]
    lines = [
        " ".join([f"{seed} {count} {factor}", *(f"{b.id}:{b.rack or '-'}:{str(b.fenced).lower()}" for b in found)])
        for seed, count, factor, found in cases
    ]
    run = subprocess.run(
        apache_kafka.java(str(SOURCE)), input="\n".join(lines), capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr
    for line, (seed, count, factor, found), expected in zip(lines, cases, run.stdout.splitlines(), strict=True):
        assert placed(found, count, factor, NoDice() if seed < 0 else JavaDice(seed)) == expected, line
    show(f"placement: {len(cases)} random clusters get the replicas that Kafka's StripedReplicaPlacer gives them")


def placed(found: list[UsableBroker], count: int, factor: int, dice: Dice) -> str | None:
    try:
        return " ".join(",".join(map(str, replicas)) for replicas in place(found, count, factor, dice))
    except ApiError as error:
        return error.message


@pytest.mark.parametrize("seed", range(20))
def test_leaders_and_replicas_are_spread_evenly(seed: int) -> None:
    made = place(brokers(*[None] * 5), 100, 3, random.Random(seed))
    assert set(Counter(replicas[0] for replicas in made).values()) == {20}
    assert set(Counter(id for replicas in made for id in replicas).values()) == {60}


@pytest.mark.parametrize("seed", range(20))
def test_replicas_of_a_partition_are_in_different_racks(seed: int) -> None:
    racks = ("a", "a", "b", "b", "c", "c")
    for replicas in place(brokers(*racks), 50, 3, random.Random(seed)):
        assert {racks[id] for id in replicas} == {"a", "b", "c"}


@pytest.mark.parametrize("seed", range(20))
def test_a_fenced_broker_never_leads(seed: int) -> None:
    made = place(brokers("a", "a", "b", "b", fenced=(0, 2, 3)), 20, 4, random.Random(seed))
    assert {replicas[0] for replicas in made} == {1}
    assert all(sorted(replicas) == [0, 1, 2, 3] for replicas in made)


def test_who_leaves_or_is_cordoned_gets_no_replicas() -> None:
    cluster = Cluster(1, 2, 3)
    cluster.heartbeat(2, cordoned_log_dirs=list(cluster.image.brokers[2].directories))
    cluster.register(4)
    assert [(b.id, b.fenced) for b in usable_brokers(cluster.image)] == [(1, False), (3, False), (4, True)]
