"""One node on a disk in memory, with a clock, timers and workers that move only when a test says so."""

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from kafkish.config.load import load
from kafkish.controller.create_topics import create_topics
from kafkish.controller.operation import Settings as ControllerSettings
from kafkish.deferred import Deferred
from kafkish.metadata.changes import Update
from kafkish.metadata.image import MetadataImage
from kafkish.quorum.formatting import SERVED_FEATURES, identify, read_bootstrap
from kafkish.quorum.local_broker import LocalBroker
from kafkish.quorum.opening import open_quorum
from kafkish.quorum.ports import PeerChannel
from kafkish.quorum.runtime import Caller, ControllerRuntime
from kafkish.tests.controller.fake_configs import FakeConfigs
from kafkish_protocol.messages.broker_registration import Listener
from kafkish_protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafkish_protocol.types import Uuid
from kafkish_storage.files import Files
from kafkish_storage.files.memory import MemoryFiles

DATA = "/data"
START_MS = 1_700_000_000_000


class ManualTimer:
    def __init__(self, action: Callable[[], object]) -> None:
        self.action: Callable[[], object] | None = action

    def cancel(self) -> None:
        self.action = None


class World:
    """Clock, Timers and Executor of one process."""

    def __init__(self, now_ms: int = START_MS) -> None:
        self.now_ms = now_ms
        self._timers: list[tuple[float, int, ManualTimer]] = []
        self._count = 0
        self.jobs: deque[tuple[Callable[[], object], Callable[[Exception | None], object]]] = deque()
        self.jobs_run = 0

    def wall_ms(self) -> int:
        return self.now_ms

    def monotonic_ms(self) -> int:
        return self.now_ms - START_MS

    def call_soon(self, action: Callable[[], object], /) -> None:
        action()

    def call_later(self, delay_ms: float, action: Callable[[], object], /) -> ManualTimer:
        timer = ManualTimer(action)
        self._count += 1
        heapq.heappush(self._timers, (self.now_ms + delay_ms, self._count, timer))
        return timer

    def submit(self, work: Callable[[], object], done: Callable[[Exception | None], object], /) -> None:
        self.jobs.append((work, done))

    def run_job(self) -> None:
        """One job, from the worker's side to the owner's."""
        work, done = self.jobs.popleft()
        self.jobs_run += 1
        error: Exception | None = None
        try:
            work()
        except Exception as raised:
            error = raised
        done(error)

    def settle(self, for_ms: int = 0) -> None:
        """Run all jobs, and all timers that are due within this time."""
        end_ms = self.now_ms + for_ms
        while True:
            while self.jobs:
                self.run_job()
            if not self._timers or self._timers[0][0] > end_ms:
                break
            due_ms, _, timer = heapq.heappop(self._timers)
            self.now_ms = max(self.now_ms, int(due_ms))
            if timer.action is not None:
                timer.action()
        self.now_ms = end_ms


class Node:
    """A broker and controller without listeners."""

    def __init__(
        self,
        files: Files | None = None,
        *,
        seed: int = 1,
        data: str = DATA,
        segment_bytes: int | None = None,
        world: World | None = None,
        peers: PeerChannel | None = None,
        **overrides: str,
    ) -> None:
        """`segment_bytes` may be smaller than Kafka lets users set it."""
        self.files = files if files is not None else MemoryFiles()
        if isinstance(self.files, MemoryFiles):
            self.files.now_ms = START_MS
        self.world = world or World()
        self.dice = Random(seed)
        names = {"log_dirs": data, "node_id": "1", **overrides}
        self.settings = load(overrides=[f"{name.replace('_', '.')}={value}" for name, value in names.items()])
        self.identity = identify(self.settings, self.files, self.world, self.dice)
        self.quorum = open_quorum(
            self.settings, self.identity, self.files,
            clock=self.world, timers=self.world, executor=self.world, dice=self.dice, peers=peers,
        )  # fmt: skip
        if segment_bytes:
            self.quorum.log.log.config = replace(self.quorum.log.log.config, segment_bytes=segment_bytes)
        self.updates: list[Update] = []
        self.failures: list[str] = []
        self.quorum.on_failure.append(self.failures.append)
        self.quorum.subscribe(self.updates.append)
        node_id = self.settings.node.node_id
        voter_ids = frozenset({node_id, *(voter.id for voter in self.settings.quorum.controller_quorum_voters)})
        controller = ControllerSettings(self.identity.cluster_id, node_id, voter_ids, SERVED_FEATURES)
        self.controller = ControllerRuntime(
            self.quorum, controller, FakeConfigs(), read_bootstrap(self.files, data, SERVED_FEATURES),
            incarnation_id=Uuid(self.dice.randbytes(16)),
            session_timeout_ms=self.settings.replication.broker_session_timeout_ms,
        )  # fmt: skip
        self.broker = LocalBroker(
            self.controller,
            listeners=[Listener(name="PLAINTEXT", host="localhost", port=9092)],
            features=SERVED_FEATURES,
            directories=self.identity.log_directory_ids,
            heartbeat_interval_ms=self.settings.replication.broker_heartbeat_interval_ms,
        )

    @property
    def image(self) -> MetadataImage:
        return self.quorum.image

    def start(self) -> "Node":
        """Start, and run until the broker is unfenced or nothing moves any more."""
        self.broker.start()
        self.quorum.start()
        self.world.settle(200)
        return self

    def replay(self) -> "Node":
        """Start without a broker: the image is what the disk says."""
        self.quorum.start()
        self.world.settle(200)
        return self

    def create(self, *names: str, partitions: int = 1) -> Deferred[Any]:
        """Ask for topics, without waiting."""
        topics = [CreatableTopic(name=name, num_partitions=partitions, replication_factor=1) for name in names]
        return self.controller.submit(create_topics, CreateTopicsRequest(topics=topics), Caller(api_version=7))

    def created(self, *names: str, partitions: int = 1) -> None:
        """Create topics, and wait."""
        answer = self.create(*names, partitions=partitions)
        self.world.settle()
        assert [topic.error_code for topic in answer.result().topics] == [0] * len(names)

    def stop(self) -> None:
        """As a broker that is told to stop."""
        gone = self.broker.stop()
        self.world.settle(1_000)
        assert gone.is_done
        stopped = self.quorum.stop()
        self.world.settle(10_000)
        assert stopped.is_done
