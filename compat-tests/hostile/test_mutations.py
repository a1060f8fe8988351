"""A broker that is sent damaged frames of real clients serves on, and its memory does not grow."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import batches
import brokers
import control
import pytest
from brokers import Broker
from hostile.captures import api_key, capture, mutated
from wire import Wire

pytestmark = pytest.mark.owned

CONNECTIONS = 32
PATIENCE_S = 0.2  # for an answer that may never come: a longer frame was announced, or the request waits
UNMOVED = {19, 37}  # creating topics and partitions: damaged counts ask for as many as the broker allows
STATEFUL = {3, 8, 11}  # may create topics and groups, which cost memory by right
MAX_GROWTH_BYTES = 8 << 20


@pytest.fixture
def victim(broker: Broker, tmp_path: Path) -> Iterator[Broker]:
    """A broker of the same kind for this test alone."""
    with brokers.running(broker.kind, tmp_path) as running:
        yield running


class Mutations:
    """Damaged frames without end, every API as often as any other."""

    def __init__(self, frames: dict[int, list[bytes]], seed: int) -> None:
        self.frames = {key: found for key, found in frames.items() if key not in UNMOVED}
        self._all = [frame for found in self.frames.values() for frame in found]
        self._dice = random.Random(seed)

    def take(self, count: int, without: set[int]) -> Iterator[bytes]:
        keys = sorted(set(self.frames) - without)
        while count:
            frame = mutated(self._dice.choice(self.frames[self._dice.choice(keys)]), self._all, self._dice)
            if api_key(frame) not in without | UNMOVED:
                count -= 1
                yield frame


async def bombard(broker: Broker, frames: Iterator[bytes], outcomes: Counter[str]) -> None:
    """Send all frames over a few connections, each opened again when the broker closes it."""
    await asyncio.gather(*(sender(broker, frames, outcomes) for _ in range(CONNECTIONS)))


async def sender(broker: Broker, frames: Iterator[bytes], outcomes: Counter[str]) -> None:
    for first in frames:
        reader, writer = await asyncio.open_connection(broker.host, broker.port, limit=1 << 25)
        frame = first
        while frame:
            outcome = await sent(reader, writer, frame)
            outcomes[outcome] += 1
            frame = next(frames, b"") if outcome == "answered" else b""
        writer.close()


async def sent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, frame: bytes) -> str:
    """What became of a frame."""
    writer.write(frame)
    try:
        async with asyncio.timeout(PATIENCE_S):
            size = int.from_bytes(await reader.readexactly(4), "big")
            await reader.readexactly(size)
    except TimeoutError:  # which is an OSError too, so it comes first
        return "left waiting"
    except (OSError, EOFError):
        return "refused"
    return "answered"


def expect_service(broker: Broker, name: str) -> None:
    with Wire(broker.address) as wire:
        control.create_topic(wire, name)
        assert control.produce(wire, name, batches.values(b"still here")) == 0
        assert len(batches.read(control.fetch(wire, name, 0).records)) == 1


@pytest.mark.timeout(900)
def test_broker_survives_damaged_frames_of_real_clients(victim: Broker, show: Callable[[str], None]) -> None:
    rounds, size = (10, 10_000) if victim.kind == "kafkish" else (2, 1000)
    mutations = Mutations(capture(victim.address), seed=100_000)
    memory = []
    outcomes: Counter[str] = Counter()
    for number in range(rounds):
        without = STATEFUL if number > 1 else set()
        asyncio.run(bombard(victim, mutations.take(size, without), outcomes))
        expect_service(victim, f"round-{number}")
        memory.append(victim.memory_bytes())
    told = ", ".join(f"{used >> 20}" for used in memory)
    became = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.items())
    show(f"damaged frames of {len(mutations.frames)} APIs: {became}; memory after each round: {told} MB")
    assert outcomes.total() == rounds * size
    assert min(outcomes["answered"], outcomes["refused"]) > outcomes.total() // 20, "too few of either to prove much"
    if victim.kind == "kafkish":
        assert memory[-1] - memory[2] < MAX_GROWTH_BYTES
