"""A node for tests of handlers: a controller that does what it is told at once or when it is let, one group shard."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from kafkish.config.load import load
from kafkish.config.settings import Settings
from kafkish.controller.create_topics import create_topics
from kafkish.controller.node_configs import NodeConfigPort
from kafkish.controller.operations import operation_of
from kafkish.coordinators.effects import Reply
from kafkish.deferred import Deferred
from kafkish.handlers import catalog  # noqa: F401  # importing handlers registers them
from kafkish.handlers.registry import REGISTRY, RequestContext
from kafkish.handlers.services import ControllerError, LogDirectoryInfo, Node, Services
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.topics import Topic
from kafkish.partitions.fetch_session import FetchSessions
from kafkish.partitions.partition import Partition
from kafkish.tests.controller.cluster import CLUSTER_ID, Cluster
from kafkish.tests.coordinators.groups.group_model import GroupModel
from kafkish.timers import Timer
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafkish_protocol.messages.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Uuid


class FakeMetadata:
    """The image of a cluster of records, and settings as a user gives them."""

    def __init__(self, cluster: Cluster, settings: Settings) -> None:
        self.cluster = cluster
        self.settings = settings

    @property
    def image(self) -> MetadataImage:
        return self.cluster.image


class FakeController:
    """Runs the real operations. `hold` keeps what is submitted until `release`; `is_lost` refuses all."""

    def __init__(self, cluster: Cluster, configs: NodeConfigPort) -> None:
        self.cluster = cluster
        self.configs = configs
        self.submitted: list[tuple[Request, int]] = []
        self.held: list[tuple[Request, int, Deferred[Response]]] = []
        self.hold = False
        self.is_lost = False

    def submit(self, request: Request, api_version: int) -> Deferred[Response]:
        self.submitted.append((request, api_version))
        answer: Deferred[Response] = Deferred()
        if self.is_lost:
            answer.fail(ControllerError("no controller"))
        elif self.hold:
            self.held.append((request, api_version, answer))
        else:
            answer.resolve(self._run(request, api_version))
        return answer

    def release(self) -> None:
        held, self.held = self.held, []
        for request, version, answer in held:
            answer.resolve(self._run(request, version))

    def _run(self, request: Request, version: int) -> Response:
        operation = operation_of(ApiKey(request.schema.api_key or 0))
        response: Response = self.cluster.run(operation, request, version, configs=self.configs)
        return response


class FakeQuorum:
    kraft_version = 1

    def describe(self, _: DescribeQuorumRequest, api_version: int) -> Deferred[DescribeQuorumResponse]:
        return Deferred.of(DescribeQuorumResponse(error_message=f"version {api_version}"))


class ModelInProcess(GroupModel):
    """Its answers do not go over a wire, and keep what a version would not carry."""

    def _answer(self, reply: Reply) -> None:
        assert isinstance(reply.handle, int)
        self.replies[reply.handle] = reply.response


class FakeGroups:
    """One shard behind all partitions, on the model runtime."""

    def __init__(self) -> None:
        self.model = ModelInProcess()
        self.waiting: dict[int, Deferred[Response]] = {}

    def handle(self, request: Request, api_version: int, client_id: str, client_host: str) -> Deferred[Response]:
        answer: Deferred[Response] = Deferred()
        self.waiting[self.model.send(request, api_version, client_id, client_host)] = answer
        self.deliver()
        return answer

    def advance(self, duration_ms: int) -> None:
        self.model.advance(duration_ms)
        self.deliver()

    def deliver(self) -> None:
        for handle in [handle for handle in self.waiting if handle in self.model.replies]:
            self.waiting.pop(handle).resolve(self.model.replies[handle])

    def partition_of(self, group_id: str, /) -> int:
        return len(group_id) % 50


class AtOnce:
    """Timers for which no time passes. A handler that uses them lets others have their turn."""

    def __init__(self) -> None:
        self.turns = 0
        self.between_turns: Callable[[], object] = lambda: None

    def call_later(self, _delay_ms: float, action: Callable[[], object], /) -> Timer:
        self.turns += 1
        self.between_turns()
        action()
        return self

    def call_soon(self, action: Callable[[], object], /) -> None:
        action()

    def cancel(self) -> None:
        """It went off."""


class FakeProducerIds:
    def __init__(self) -> None:
        self.ids: Iterator[int] | None = iter(range(1000, 2000))

    def next(self) -> Deferred[int]:
        answer: Deferred[int] = Deferred()
        if self.ids is None:
            answer.fail(ControllerError("no controller"))
        else:
            answer.resolve(next(self.ids))
        return answer


@dataclass
class FakePartitions:
    """Whatever a test puts in."""

    replicas: dict[tuple[str, int], Partition] = field(default_factory=dict)
    log_directories: list[LogDirectoryInfo] = field(default_factory=list)

    def by_name(self, topic: str, index: int, /) -> Partition | None:
        return self.replicas.get((topic, index))

    def by_id(self, topic_id: Uuid, index: int, /) -> Partition | None:
        return next((it for it in self.replicas.values() if (it.topic_id, it.index) == (topic_id, index)), None)

    def directories(self) -> list[LogDirectoryInfo]:
        return self.log_directories


class NodeUnderTest:
    """Node 1 of a cluster of these brokers. Clients dialled 192.0.2.7:19092 on the listener PLAINTEXT."""

    def __init__(self, *brokers: int, settings: tuple[str, ...] = ()) -> None:
        self.cluster = Cluster(*(brokers or (1,)))
        loaded = load(None, ["log.dirs=unused", *settings])
        self.controller = FakeController(self.cluster, NodeConfigPort(loaded.configs.static))
        self.groups = FakeGroups()
        self.producer_ids = FakeProducerIds()
        self.partitions = FakePartitions()
        self.timers = AtOnce()
        self.services = Services(
            node=Node(1, CLUSTER_ID),
            metadata=FakeMetadata(self.cluster, loaded),
            controller=self.controller,
            quorum=FakeQuorum(),
            partitions=self.partitions,
            groups=self.groups,
            producer_ids=self.producer_ids,
            fetch_sessions=cast("FetchSessions", None),
            timers=self.timers,
            wall_ms=lambda: 1_700_000_000_000,
            dice=random.Random(0),
        )

    def create(self, name: str, partitions: int = 1, replication_factor: int = 1) -> Topic:
        topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=replication_factor)
        response = self.cluster.run(create_topics, CreateTopicsRequest(topics=[topic]))
        assert response.topics[0].error_code == 0, response
        return self.cluster.image.topics.by_name[name]

    def start(
        self, request: Request, version: int, client_id: str | None = "client", listener: str = "PLAINTEXT"
    ) -> Any:
        """The outcome of a request, which goes through its bytes."""
        key = ApiKey(request.schema.api_key or 0)
        context = RequestContext(
            key, version, client_id, "203.0.113.9", listener, "192.0.2.7", 19092, self.services, REGISTRY
        )
        assert version in REGISTRY[key].versions
        return REGISTRY[key].respond(type(request).decode(request.encode(version), version), context)

    def ask(self, request: Request, version: int | None = None, **about: Any) -> Any:
        """The response, which must be there at once, as a client reads it."""
        key = ApiKey(request.schema.api_key or 0)
        version = REGISTRY[key].versions.high if version is None else version
        outcome = self.start(request, version, **about)
        response: Response = outcome.result() if isinstance(outcome, Deferred) else outcome
        return type(response).decode(response.encode(version), version)
