"""Waiting until both brokers see what they were told: a broker's own view of the cluster may lag behind."""

from collections.abc import Callable
from threading import Event
from typing import Any, Final

from kafkish import clock
from kafkish.diff.compare import is_answer
from kafkish.diff.exchange import Exchange
from kafkish.diff.script import Damage, Step
from kafkish.diff.symbols import OURS, THEIRS
from kafkish.diff.world import World
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.describe_groups import DescribeGroupsRequest
from kafkish_protocol.messages.find_coordinator import FindCoordinatorRequest
from kafkish_protocol.messages.init_producer_id import InitProducerIdRequest
from kafkish_protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkish_protocol.messages.metadata import MetadataRequest
from kafkish_protocol.schema import Request

CHANGING: Final = (
    ApiKey.CREATE_TOPICS, ApiKey.DELETE_TOPICS, ApiKey.CREATE_PARTITIONS, ApiKey.METADATA, ApiKey.ALTER_CONFIGS,
    ApiKey.INCREMENTAL_ALTER_CONFIGS,
)  # fmt: skip
OFFSETS_TOPIC: Final = "__consumer_offsets"
"""It comes back when somebody looks for a coordinator."""
CONTROL_LANE: Final = -1
PATIENCE_S: Final = 10.0
CREATION_S: Final = 1.0
"""How long a topic may take that was created because somebody asked for it. Some never come."""
GROUPS: Final = 200


class Settling:
    """Asks both brokers what they see, on a connection of its own."""

    def __init__(self, exchange: Exchange, world: World) -> None:
        self._exchange = exchange
        self._world = world

    def ask(self, request: Any, version: int) -> tuple[Any, Any]:
        """Both answers."""
        replies = self._exchange.send(Step(CONTROL_LANE, request, version))
        assert replies is not None
        for reply in replies:
            if not is_answer(reply):
                raise ConnectionError(f"a broker did not answer {type(request).__name__}: {reply}")
        return replies

    def prepare(self) -> None:
        """Both have coordinators and producer ids before the first request that is compared, and the same topics."""
        self._until(lambda: self._all(InitProducerIdRequest(transactional_id=None), 0))
        self._find_coordinators()
        if not self._until(self._same_topics):
            raise ValueError("the brokers have different topics; compare two that are new")

    def is_due(self, step: Step) -> bool:
        """Whether a request may have changed what brokers see."""
        return step.key in CHANGING or (step.key is ApiKey.FIND_COORDINATOR and OFFSETS_TOPIC not in self._world.topics)

    def settle(self, step: Step, reply: Any) -> tuple[Any, Any]:
        """Wait until both see the same topics, with leaders that answer; what they see then."""
        if step.key is ApiKey.FIND_COORDINATOR:
            self._find_coordinators()
        if awaited := ordered_topics(step, reply):
            self._until(lambda: all(awaited <= view.keys() for view in self._views()), CREATION_S)
        self._until(lambda: self._same_topics() and self._same_coordinators())
        return self.ask(MetadataRequest(topics=None), 12)

    def settle_group(self, group: str) -> None:
        """Wait until both have seen who waits there: who joins next comes after it, on both."""
        self._until(lambda: self._same_members(group), CREATION_S)

    def _same_members(self, group: str) -> bool:
        replies = self.ask(DescribeGroupsRequest(groups=[group]), 0)
        ours, theirs = ({(row.group_state, len(row.members)) for row in reply.groups} for reply in replies)
        return ours == theirs

    def _find_coordinators(self) -> None:
        self._until(lambda: self._all(FindCoordinatorRequest(key="g0"), 0))
        names = [f"g{self._world.tag}-{number}" for number in range(GROUPS)]
        self._until(lambda: not any(code for view in self._group_errors(names) for code in view.values()))

    def _all(self, request: Request, version: int) -> bool:
        return not any(reply.error_code for reply in self.ask(request, version))

    def _until(self, condition: Callable[[], bool], patience_s: float = PATIENCE_S) -> bool:
        deadline = clock.monotonic_s() + patience_s
        while not condition():
            if clock.monotonic_s() > deadline:
                return False
            Event().wait(0.01)
        return True

    def _views(self) -> list[dict[str, int]]:
        """Topics with the numbers of their partitions."""
        replies = self.ask(MetadataRequest(topics=None), 12)
        return [{row.name: len(row.partitions) for row in reply.topics} for reply in replies]

    def _same_topics(self) -> bool:
        views = self._views()
        if views[OURS] != views[THEIRS]:
            return False
        if views[OURS].items() <= {name: topic.partitions for name, topic in self._world.topics.items()}.items():
            return True
        rows = [
            ListOffsetsTopic(
                name=name,
                partitions=[ListOffsetsPartition(partition_index=each, timestamp=-1) for each in range(partitions)],
            )
            for name, partitions in views[OURS].items()
        ]
        replies = self.ask(ListOffsetsRequest(replica_id=-1, topics=rows), 5)
        return not any(each.error_code for reply in replies for row in reply.topics for each in row.partitions)

    def _same_coordinators(self) -> bool:
        """Whether both have loaded the same groups, or none since their topic was deleted."""
        views = self._group_errors([*self._world.group_names(), "g0", "nobody"])
        return views[OURS] == views[THEIRS]

    def _group_errors(self, names: list[str]) -> list[dict[str, int]]:
        replies = self.ask(DescribeGroupsRequest(groups=names), 0)
        return [{row.group_id: row.error_code for row in reply.groups} for reply in replies]


def ordered_topics(step: Step, reply: Any) -> set[str]:
    """The topics that a Metadata request has a broker create: they are not there yet."""
    request: Any = step.request
    if step.key is not ApiKey.METADATA or step.damage != Damage() or not is_answer(reply):
        return set()
    if not request.allow_auto_topic_creation:
        return set()
    return {row.name for row in reply.topics if row.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and row.name}
