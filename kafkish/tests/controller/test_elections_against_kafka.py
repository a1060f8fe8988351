"""Who leads and who is in sync: as Kafka's own PartitionChangeBuilder says, on thousands of random partitions."""

import random
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import apache_kafka
import pytest

from kafkish.controller.elections import Election, Rules, Wish, change
from kafkish.metadata.directories import UNASSIGNED
from kafkish.metadata.image import Features, MetadataImage
from kafkish.metadata.nodes import Broker
from kafkish.metadata.records import encode_record, record_version
from kafkish.metadata.topics import NO_LEADER, Partition, partition_to_record
from kafkish.metadata.versions import ELR_VERSION
from kafkish.tests.controller.cluster import directory
from kafkish_protocol.types import Uuid

pytestmark = pytest.mark.kafka

SOURCE = Path(__file__).parent / "java" / "PartitionChanges.java"
CASES = 10_000
TOPIC = Uuid(b"t" * 16)
OTHER_DIRECTORY = Uuid((77).to_bytes(8, "big") * 2)
BROKERS = (1, 2, 3, 4, 5)


@dataclass
class Case:
    partition: Partition
    wish: Wish
    rules: Rules
    alive: tuple[int, ...]


def draw_partition(dice: random.Random, elr_enabled: bool, directories: bool) -> Partition:
    replicas = tuple(dice.sample(BROKERS, dice.randint(1, 5)))
    isr = tuple(r for r in replicas if dice.random() < 0.6) or (() if elr_enabled else replicas[:1])
    leader = dice.choice(isr) if isr and dice.random() < 0.8 else NO_LEADER
    others = [r for r in replicas if r not in isr]
    moving = dice.random() < 0.4
    adding = tuple(r for r in replicas[1:] if moving and dice.random() < 0.4)
    removing = tuple(r for r in replicas if moving and r not in adding and dice.random() < 0.3)
    return Partition(
        replicas=replicas,
        directories=tuple(dice.choice((UNASSIGNED, directory(r * 10))) for r in replicas)
        if directories
        else (Uuid(bytes(16)),) * len(replicas),
        isr=isr,
        leader=leader,
        leader_epoch=dice.randint(0, 9),
        partition_epoch=dice.randint(0, 9),
        leader_recovery_state=int(dice.random() < 0.2),
        removing_replicas=removing,
        adding_replicas=adding,
        elr=tuple(sorted(r for r in others if elr_enabled and dice.random() < 0.5)),
        last_known_elr=(dice.choice(replicas),) if elr_enabled and leader == NO_LEADER else (),
    )


def draw_wish(dice: random.Random, partition: Partition) -> Wish:
    """What the operations wish for."""
    election = dice.choice(list(Election))
    kind = dice.randrange(6)
    if kind == 0:
        return Wish(isr=[r for r in partition.replicas if dice.random() < 0.6], election=election)
    if kind == 1:
        gone = dice.choice(BROKERS)
        return Wish(isr=[r for r in partition.isr if r != gone], uncleanly_stopped=frozenset([gone]), election=election)
    if kind == 2:
        target = dice.sample(BROKERS, dice.randint(1, 5))
        removing = sorted(set(partition.replicas) - set(target))
        adding = sorted(set(target) - set(partition.replicas))
        return Wish(replicas=[*target, *removing], removing=removing or None, adding=adding or None)
    if kind == 3:
        replicas = [r for r in partition.replicas if r not in partition.adding_replicas]
        isr = [r for r in partition.isr if r not in partition.adding_replicas] or replicas[:1]
        return Wish(isr=isr, replicas=replicas, removing=[], adding=[], election=election)
    if kind == 4:
        isr = dice.sample(partition.replicas, dice.randint(1, len(partition.replicas)))
        return Wish(isr=isr, leader_recovery_state=0)
    return Wish(election=election, directories=dice.choice(({}, {partition.replicas[0]: OTHER_DIRECTORY})))


def draw(dice: random.Random) -> Case:
    elr_enabled, level = dice.random() < 0.7, dice.choice((30, 30, 30, 10, 16, 22))
    elr_enabled = elr_enabled and level >= 23
    partition = draw_partition(dice, elr_enabled, level >= 17)
    alive = tuple(b for b in BROKERS if dice.random() < 0.6)
    brokers = {
        id: Broker(id, 1, TOPIC, (), {}, None, id not in alive, False, (directory(id * 10), OTHER_DIRECTORY)[:1], None)
        for id in BROKERS
    }
    image = MetadataImage(features=Features(level, {ELR_VERSION: 1} if elr_enabled else {}), brokers=brokers)
    rules = Rules(image, min_isr=dice.randint(1, len(partition.replicas)), unclean_election=False)
    return Case(partition, draw_wish(dice, partition), rules, alive)


def as_line(case: Case) -> str:
    level = case.rules.image.metadata_version
    record = partition_to_record(case.partition, TOPIC, 0, level)
    wish = case.wish
    words = [
        encode_record(record, record_version(record, level)).hex(),
        wish.election.name,
        numbers(case.alive),
        str(case.rules.min_isr),
        str(case.rules.image.features.elr_enabled),
        str(level),
        *(numbers(part) for part in (wish.isr, wish.replicas, wish.removing, wish.adding)),
        "-" if wish.leader_recovery_state is None else str(wish.leader_recovery_state),
        numbers(sorted(wish.uncleanly_stopped)) or "-",
        numbers(list(wish.directories)) or "-",
    ]
    return "\t".join(words)


def numbers(found: Sequence[int] | None) -> str:
    return "-" if found is None else ",".join(map(str, found))


def ours(case: Case) -> str:
    record = change(TOPIC, 0, case.partition, case.wish, case.rules)
    return (
        "-"
        if record is None
        else encode_record(record, record_version(record, case.rules.image.metadata_version)).hex()
    )


def test_changes_of_random_partitions_are_kafkas(show: Callable[[str], None]) -> None:
    dice = random.Random(966)
    cases = [draw(dice) for _ in range(CASES)]
    run = subprocess.run(
        apache_kafka.java(str(SOURCE)),
        input="".join(as_line(case) + "\n" for case in cases),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    theirs = run.stdout.splitlines()
    different = [case for case, expected in zip(cases, theirs, strict=True) if ours(case) != expected]
    assert [(case, change(TOPIC, 0, case.partition, case.wish, case.rules)) for case in different[:1]] == []
    show(f"elections: {CASES} random changes of partitions are as Kafka's PartitionChangeBuilder makes them")
