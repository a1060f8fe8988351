"""A peer that is slow or stuck harms only itself."""

from collections.abc import Callable

import pytest

from kafkish_raft.tests.simulation.node import Node
from kafkish_raft.tests.simulation.world import World

LOAD_EVERY_MS = 10
STUCK_MS = 6_000
COMMIT_WITHIN_MS = 10
"""One way takes 1 ms, and so does a flush: a proposal needs two of each to be committed, and a turn to wait for."""


class Cluster:
    """Five voters and an observer under load."""

    def __init__(self) -> None:
        self.world = World(7)
        self.world.found(5, 1, is_dynamic=True)
        self.world.fetch_size = 100
        self.world.network.delay_ms = (1, 1)
        for node in self.world.nodes.values():
            node.flush_ms = (1, 1)
            node.start()
        assert self.world.run_until(lambda: bool(self.world.leaders()), 5_000)
        (self.leader,) = self.world.leaders()
        assert self.leader.raft
        self.epoch = self.leader.raft.epoch
        self.waiting: list[tuple[int, int]] = []
        self.latencies_ms: list[int] = []
        assert self.world.run_until(lambda: self.leader.applied_offset >= 3, 1_000)
        self.follower = next(node for node in self.world.nodes.values() if node is not self.leader)

    def load(self) -> None:
        """Propose, and do so again soon."""
        self.waiting.append((self.leader.disk.end_offset, self.world.now_ms))
        self.world.propose(self.leader)
        self.world.after(LOAD_EVERY_MS, self.load)

    def run(self, for_ms: int) -> None:
        """Time passes, and the leader's commits are noted."""
        end_ms = self.world.now_ms + for_ms
        while self.world.now_ms < end_ms:
            self.world.run_one()
            while self.waiting and self.waiting[0][0] < self.leader.applied_offset:
                self.latencies_ms.append(self.world.now_ms - self.waiting.pop(0)[1])

    def elections(self) -> int:
        """Epochs that anyone has heard of since the load began."""
        return max(node.raft.epoch for node in self.world.nodes.values() if node.raft) - self.epoch


def pause(world: World, node: Node) -> None:
    node.paused_until_ms = world.now_ms + STUCK_MS


def slow_disk(world: World, node: Node) -> None:
    node.flush_ms = (400, 400)


def silent(world: World, node: Node) -> None:
    """It hears everything, and is never heard."""
    world.network.cut |= {(node.id, other) for other in world.nodes}


def deaf(world: World, node: Node) -> None:
    """It asks, and hears no answer."""
    world.network.cut |= {(other, node.id) for other in world.nodes}


def dead(world: World, node: Node) -> None:
    node.crash()


@pytest.mark.parametrize("trouble", [pause, slow_disk, silent, deaf, dead], ids=lambda trouble: trouble.__name__)
def test_lagging_follower_delays_nobody_and_causes_no_election(
    trouble: Callable[[World, Node], None], show: Callable[[str], None]
) -> None:
    cluster = Cluster()
    cluster.load()
    cluster.run(1_000)
    before_ms = max(cluster.latencies_ms)
    cluster.latencies_ms.clear()
    trouble(cluster.world, cluster.follower)
    cluster.run(STUCK_MS)
    assert len(cluster.latencies_ms) > 0.9 * STUCK_MS / LOAD_EVERY_MS
    assert max(cluster.latencies_ms) <= max(before_ms, COMMIT_WITHIN_MS)
    assert cluster.elections() == 0
    worst_ms = max(cluster.latencies_ms)
    show(f"raft, follower {trouble.__name__}: {len(cluster.latencies_ms)} commits, each within {worst_ms} simulated ms")


def test_lagging_follower_catches_up_by_a_snapshot_under_load_without_an_election() -> None:
    cluster = Cluster()
    cluster.load()
    cluster.run(500)
    lagging = cluster.follower
    lagging.crash()
    cluster.run(5_000)
    cluster.leader.make_snapshot(is_trimmed=True)
    lagging.start()
    cluster.run(2_000)
    assert lagging.disk.start_offset == cluster.leader.disk.start_offset > 0
    assert lagging.applied_offset >= cluster.leader.applied_offset - 5
    assert max(cluster.latencies_ms) <= COMMIT_WITHIN_MS
    assert cluster.elections() == 0


def test_voter_that_was_cut_off_for_long_does_not_disturb_when_it_is_back() -> None:
    cluster = Cluster()
    cluster.load()
    silent(cluster.world, cluster.follower)
    deaf(cluster.world, cluster.follower)
    cluster.run(STUCK_MS)
    cluster.world.network.cut.clear()
    cluster.run(2_000)
    assert cluster.elections() == 0
    assert cluster.follower.applied_offset >= cluster.leader.applied_offset - 5
