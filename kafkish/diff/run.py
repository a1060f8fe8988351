"""Sends a workload to both brokers, request by request, and tells where they differ."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Final

from kafkish import clock
from kafkish.diff.compare import Comparison, Difference, is_answer, outcome, side_by_side
from kafkish.diff.deliberate import explained
from kafkish.diff.exchange import Exchange
from kafkish.diff.moves import Moves
from kafkish.diff.script import Damage, Step
from kafkish.diff.settling import Settling
from kafkish.diff.symbols import THEIRS, Symbols
from kafkish.diff.world import World
from kafkish_protocol.api import ApiKey, request_class
from kafkish_protocol.messages.api_versions import ApiVersionsRequest
from kafkish_protocol.messages.metadata import MetadataRequest
from kafkish_protocol.versions import Versions

READING: Final = (
    ApiKey.METADATA, ApiKey.LIST_OFFSETS, ApiKey.OFFSET_FETCH, ApiKey.DESCRIBE_GROUPS, ApiKey.LIST_GROUPS,
    ApiKey.DESCRIBE_CONFIGS, ApiKey.DESCRIBE_CLUSTER, ApiKey.DESCRIBE_TOPIC_PARTITIONS, ApiKey.DESCRIBE_PRODUCERS,
    ApiKey.DESCRIBE_LOG_DIRS, ApiKey.DESCRIBE_QUORUM, ApiKey.OFFSET_FOR_LEADER_EPOCH, ApiKey.FIND_COORDINATOR,
    ApiKey.LIST_CONFIG_RESOURCES, ApiKey.INCREMENTAL_ALTER_CONFIGS,
)  # fmt: skip
"""What may be asked again: a broker that was only slow to see a change then gives the same answer."""
WAKING: Final = (ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.LEAVE_GROUP)
"""What may answer the request of another member."""
RETRIES: Final = 5


@dataclass
class Finding:
    """The first difference of its kind."""

    number: int
    step: Step
    difference: Difference
    replies: tuple[Any, Any]
    count: int = 1

    def __str__(self) -> str:
        head = f"request {self.number}: {self.step}"
        seen = f"\n(seen {self.count} times)" if self.count > 1 else ""
        return f"{head}\n\ndiffers at {self.difference}{seen}\n\n{side_by_side(*self.replies)}"


@dataclass
class Report:
    """What came of a run."""

    requests: int = 0
    by_api: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # outcomes
    deliberate: Counter[str] = field(default_factory=Counter)
    findings: dict[tuple[str, str, str], Finding] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)


class Run:
    """One workload on two brokers."""

    def __init__(self, ours: tuple[str, int], theirs: tuple[str, int]) -> None:
        self.symbols = Symbols()
        self.world = World(base_ms=clock.wall_ms() - 3 * 3_600_000)
        self.report = Report()
        self._exchange = Exchange(ours, theirs, self.symbols)
        self._comparison = Comparison(self.symbols)
        self._settling = Settling(self._exchange, self.world)

    def generated(self, seed: int) -> Iterator[Step]:
        """An endless workload over what both brokers serve."""
        busy: set[int] = set()
        for step in Moves(seed, self.world, self.served()).steps(busy):
            yield step
            self._exchange.drop(self.world.abandoned_lanes)
            self.world.abandoned_lanes.clear()
            busy.clear()
            busy.update(self._exchange.waiting())

    def served(self) -> dict[int, Versions]:
        """API -> the versions that both brokers have."""
        request = ApiVersionsRequest(client_software_name="kafkish", client_software_version="diff")
        replies = self._settling.ask(request, 3)
        ours, theirs = ({row.api_key: row for row in reply.api_keys} for reply in replies)
        return {key: common_versions(key, ours[key], theirs[key]) for key in ours.keys() & theirs.keys()}

    def compare(self, steps: Iterable[Step], requests: int, stop: Callable[[Report], bool]) -> Report:
        """Send up to `requests`; `stop` is asked after each whether that was enough."""
        self._settling.prepare()
        for number, step in enumerate(steps, 1):
            self.report.requests = number
            self.report.steps.append(step)
            self._take(number, step)
            if number >= requests or stop(self.report):
                break
        self._exchange.close()
        return self.report

    def _take(self, number: int, step: Step) -> None:
        if (replies := self._exchange.send(step)) is not None:
            replies = self._asked_again(step, replies)
        else:
            self._settling.settle_group(getattr(step.request, "group_id", ""))
        answered = [] if replies is None else [(step, replies)]
        answered += self._exchange.answered_late(0.05 if step.key in WAKING else 0)
        for each, its_replies in sorted(answered, key=names_of_others):
            self._judge(number, each, its_replies)
        if self._settling.is_due(step):
            settled = Step(step.lane, MetadataRequest(topics=None), 12)
            self._judge(number, settled, self._settling.settle(step, None if replies is None else replies[THEIRS]))

    def _asked_again(self, step: Step, replies: tuple[Any, Any]) -> tuple[Any, Any]:
        for attempt in range(RETRIES if step.key in READING or self._is_sessionless_fetch(step) else 0):
            found = self._unexplained(step, replies)
            if all(finding_key(each) in self.report.findings for each in found):
                break
            Event().wait(0.02 * 2**attempt)
            replies = self._exchange.send(step) or replies
        return replies

    def _is_sessionless_fetch(self, step: Step) -> bool:
        return step.key is ApiKey.FETCH and getattr(step.request, "session_epoch", 0) == -1

    def _unexplained(self, step: Step, replies: tuple[Any, Any]) -> list[Difference]:
        found = self._comparison.differences(step.key.title, *replies)
        return [each for each in found if explained(each, step.request) is None]

    def _judge(self, number: int, step: Step, replies: tuple[Any, Any]) -> None:
        self.report.by_api[step.key.title][outcome(replies[THEIRS])] += 1
        for difference in self._comparison.differences(step.key.title, *replies):
            entry = explained(difference, step.request)
            if entry is not None:
                self.report.deliberate[entry.reason] += 1
                continue
            key = finding_key(difference)
            if key in self.report.findings:
                self.report.findings[key].count += 1
            else:
                self.report.findings[key] = Finding(number, step, difference, replies)
        if is_answer(replies[THEIRS]) and step.damage == Damage():
            self.world.observe(step, self.symbols.renamed(THEIRS, replies[THEIRS]))


def finding_key(difference: Difference) -> tuple[str, str, str]:
    """Differences that are shown once."""
    return difference.api, difference.field, str((difference.ours, difference.theirs))[:200]


def names_of_others(answered: tuple[Step, tuple[Any, Any]]) -> int:
    """How many members a reply tells of. Each is known by its own reply, so that of the leader comes last."""
    return len(getattr(answered[1][THEIRS], "members", ()))


def common_versions(key: int, ours: Any, theirs: Any) -> Versions:
    """What both advertise and a schema has: Kafka advertises versions of Produce that it does not serve."""
    schema = request_class(ApiKey(key)).schema.versions
    low = max(ours.min_version, theirs.min_version, schema.low)
    return Versions(low, min(ours.max_version, theirs.max_version, schema.high))
