"""The same adapter in a quorum of three, with a wire of plain calls: fetching, truncation, snapshots, elections."""

from typing import Any

import pytest

from kafkish.controller.operation import ApiError
from kafkish.quorum.metadata_log import MetadataLog
from kafkish.tests.quorum.node import Node, World
from kafkish_raft.effects import Send
from kafkish_storage.files.memory import MemoryFiles

VOTERS = "1@host:9001,2@host:9002,3@host:9003"


class Wire:
    """Carries messages to nodes that are up; to others, there is no answer."""

    def __init__(self, cluster: "Cluster", source: int) -> None:
        self._cluster = cluster
        self._source = source

    def send(self, message: Send, /) -> None:
        self._cluster.world.call_later(1, lambda: self._arrive(message))

    def _arrive(self, message: Send) -> None:
        nodes, destination, number = self._cluster.nodes, message.destination, message.correlation_id
        if destination in nodes and not self._is_cut(destination):
            nodes[destination].quorum.ask(message.request).on_done(
                lambda done: self._cluster.world.call_later(1, lambda: self._answer(destination, number, done.result()))
            )
        else:
            self._cluster.world.call_later(1, lambda: self._answer(destination, number, None))

    def _is_cut(self, destination: int) -> bool:
        return bool({self._source, destination} & self._cluster.cut_off)

    def _answer(self, destination: int, number: int, response: Any) -> None:
        response = None if self._is_cut(destination) else response
        if self._source in self._cluster.nodes:
            self._cluster.nodes[self._source].quorum.answered(destination, number, response)


class Cluster:
    def __init__(self, **overrides: Any) -> None:
        self.world = World()
        self.nodes: dict[int, Node] = {}
        self.cut_off: set[int] = set()
        self._disks = {node_id: MemoryFiles() for node_id in (1, 2, 3)}
        self._overrides = overrides
        for node_id in self._disks:
            self.boot(node_id)
        self.world.settle(10_000)

    def boot(self, node_id: int) -> None:
        listeners = f"PLAINTEXT://host:{9100 + node_id},CONTROLLER://host:{9000 + node_id}"
        node = Node(
            self._disks[node_id],
            seed=node_id,
            world=self.world,
            peers=Wire(self, node_id),
            node_id=str(node_id),
            process_roles="broker,controller",
            listeners=listeners,
            controller_listener_names="CONTROLLER",
            controller_quorum_voters=VOTERS,
            kafkish_cluster_id="MkU3OEVBNTcwNTJENDM2Qg",
            **self._overrides,
        )
        self.nodes[node_id] = node
        node.quorum.start()

    def kill(self, node_id: int) -> None:
        """Without a word; the disk keeps what was written."""
        node = self.nodes.pop(node_id)
        node.quorum.fail(RuntimeError("killed by the test"))

    @property
    def leader(self) -> Node:
        [leader] = [node for node in self.nodes.values() if node.controller.is_active]
        return leader

    @property
    def logs(self) -> list[MetadataLog]:
        return [node.quorum.log for node in self.nodes.values()]

    def create(self, *names: str) -> None:
        for name in names:
            answer = self.leader.create(name)
            self.world.settle(2_000)
            assert answer.result().topics[0].error_code == 0

    def with_broker(self) -> "Cluster":
        """Topics need a broker: the leader's own."""
        leader = self.leader
        leader.broker.start()
        self.world.settle(1_000)
        assert leader.image.is_active(leader.settings.node.node_id)
        return self


def images(cluster: Cluster) -> list[set[str]]:
    return [set(node.image.topics.by_name) for node in cluster.nodes.values()]


def test_every_node_replays_what_the_leader_commits() -> None:
    cluster = Cluster().with_broker()
    cluster.create("a", "b")
    assert images(cluster) == [{"a", "b"}] * 3
    assert all(node.failures == [] for node in cluster.nodes.values())
    contents = [log.read_bytes(0, log.end_offset, 1 << 20) for log in cluster.logs]
    assert contents[0] == contents[1] == contents[2]


def test_leader_that_dies_takes_no_committed_topic_with_it() -> None:
    cluster = Cluster().with_broker()
    cluster.create("a")
    dead = cluster.leader.settings.node.node_id
    cluster.kill(dead)
    cluster.world.settle(20_000)
    assert images(cluster) == [{"a"}] * 2
    assert cluster.leader.settings.node.node_id != dead
    cluster.boot(dead)
    cluster.world.settle(10_000)
    assert images(cluster) == [{"a"}] * 3


def test_what_a_lonely_leader_had_not_replicated_is_cut_off() -> None:
    cluster = Cluster().with_broker()
    cluster.create("a")
    leader = cluster.leader
    cluster.cut_off = {leader.settings.node.node_id}
    lost = leader.create("lost")
    cluster.world.settle(20_000)
    with pytest.raises(ApiError, match="active controller"):
        lost.result()
    assert len({log.end_offset for log in cluster.logs}) == 2  # on its own disk, and nowhere else
    cluster.cut_off = set()
    cluster.world.settle(10_000)
    assert images(cluster) == [{"a"}] * 3
    ends = [(log.end_offset, log.last_epoch) for log in cluster.logs]
    assert len(set(ends)) == 1


def test_node_that_was_away_for_long_starts_from_the_leaders_snapshot() -> None:
    cluster = Cluster(
        metadata_log_max_record_bytes_between_snapshots="1000",
        metadata_max_retention_bytes="4000",
        segment_bytes=4_000,
    ).with_broker()
    away = next(node_id for node_id, node in cluster.nodes.items() if not node.controller.is_active)
    cluster.kill(away)
    cluster.create(*(f"topic-{number}" for number in range(30)))
    cluster.world.settle(120_000)
    start_offset = cluster.leader.quorum.log.start_offset
    assert start_offset > 50
    cluster.boot(away)
    assert cluster.nodes[away].quorum.log.end_offset < start_offset
    cluster.world.settle(10_000)
    assert cluster.nodes[away].failures == []
    assert cluster.nodes[away].image.topics == cluster.leader.image.topics
    assert cluster.nodes[away].quorum.log.start_offset >= start_offset
