"""What handlers may use of their node: each service as handlers need it, and no more."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple, Protocol

from kafkish.config.settings import Settings
from kafkish.deferred import Deferred
from kafkish.metadata.image import MetadataImage
from kafkish.partitions.errors import PartitionError
from kafkish.partitions.fetch_session import FetchSessions
from kafkish.partitions.partition import Partition
from kafkish.timers import Timers
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kafkish_protocol.schema import Request, Response
from kafkish_protocol.types import Uuid


class Node(NamedTuple):
    """Who this node is."""

    id: int
    cluster_id: str


class Metadata(Protocol):
    """What this node knows of the cluster: committed, and carried out here."""

    @property
    def image(self) -> MetadataImage: ...

    @property
    def settings(self) -> Settings:
        """This node's own settings with dynamic changes; `settings.configs` has the layers of them."""


class Controller(Protocol):
    """The active controller, wherever it is."""

    def submit(self, request: Request, api_version: int) -> Deferred[Response]:
        """Have an operation of `kafkish.controller.operations` done.

        The answer comes when what it wrote is committed and this node has carried it out. Fails with `ControllerError`.
        """


class ControllerError(Exception):
    """There is no controller that could answer, or it lost its place before it could."""


class Quorum(Protocol):
    """The metadata quorum."""

    @property
    def kraft_version(self) -> int:
        """The finalized `kraft.version`, which the quorum keeps itself (KAFKA-18979)."""

    def describe(self, request: DescribeQuorumRequest, api_version: int) -> Deferred[DescribeQuorumResponse]: ...


class LogDirectoryInfo(Protocol):
    """One data directory."""

    @property
    def path(self) -> str: ...
    @property
    def failure(self) -> str | None: ...
    @property
    def is_cordoned(self) -> bool: ...
    @property
    def total_bytes(self) -> int: ...
    @property
    def usable_bytes(self) -> int: ...
    @property
    def partitions(self) -> Iterable[Partition]: ...


class Partitions(Protocol):
    """The replicas on this node."""

    def by_name(self, topic: str, index: int, /) -> Partition | None: ...
    def by_id(self, topic_id: Uuid, index: int, /) -> Partition | None: ...
    def directories(self) -> Iterable[LogDirectoryInfo]: ...


class Groups(Protocol):
    """The coordinator of groups."""

    def handle(self, request: Request, api_version: int, client_id: str, client_host: str) -> Deferred[Response]:
        """Answer any request of `kafkish.coordinators.groups`, about one group, several, or all (ListGroups)."""

    def partition_of(self, group_id: str, /) -> int:
        """The partition of `__consumer_offsets` that a group belongs to."""


class ProducerIds(Protocol):
    """Ids for producers, none given out twice in the cluster."""

    def next(self) -> Deferred[int]:
        """Fails with `ControllerError`."""


@dataclass(slots=True)
class Services:
    """All of them. Put together by `kafkish.broker`."""

    node: Node
    metadata: Metadata
    controller: Controller
    quorum: Quorum
    partitions: Partitions
    groups: Groups
    producer_ids: ProducerIds
    fetch_sessions: FetchSessions
    timers: Timers
    wall_ms: Callable[[], int]
    dice: Random
    creating_topics: set[str] = field(default_factory=set)
    """Topics that are being created because someone asked for them: each is ordered once."""

    def find_partition(self, topic: str, index: int) -> Partition:
        """The replica here; PartitionError if the partition is elsewhere, or nowhere."""
        partition = self.partitions.by_name(topic, index)
        if partition is not None:
            return partition
        known = self.metadata.image.topic(topic)
        is_elsewhere = known is not None and index in known.partitions
        raise PartitionError(ErrorCode.NOT_LEADER_OR_FOLLOWER if is_elsewhere else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
