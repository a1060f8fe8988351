"""A coordinator of groups on its runtime, with short words for what tests do all the time."""

from itertools import count
from typing import Any

from kafkish.coordinators.groups.coordinator import GroupCoordinator
from kafkish.coordinators.groups.settings import GroupSettings
from kafkish.coordinators.surroundings import RuntimeSettings, Surroundings
from kafkish.deferred import Deferred
from kafkish.tests.coordinators.fake_node import FakeLog, FakeTime
from kafkish.tests.coordinators.groups import requests
from kafkish.tests.coordinators.groups.group_model import INITIAL_DELAY_MS, NEWEST
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.schema import Request

PARTITIONS = 4


class GroupNode:
    """A coordinator of groups on four partitions, with all it needs."""

    def __init__(self, *, commits_at_once: bool = True, **settings: Any) -> None:
        self.time = FakeTime()
        self.logs = [FakeLog(commits_at_once=commits_at_once) for _ in range(PARTITIONS)]
        around = Surroundings(RuntimeSettings(**settings), self.time, lambda: self.time.now)
        ids = count(1)
        group_settings = GroupSettings(initial_rebalance_delay_ms=INITIAL_DELAY_MS)
        self.groups = GroupCoordinator(PARTITIONS, group_settings, lambda: f"{next(ids)}", around)

    def elect(self, *indexes: int, epoch: int = 1) -> None:
        for index in indexes or range(PARTITIONS):
            self.groups.elect(index, epoch, self.logs[index])

    def start(self, request: Request, version: int | None = None) -> Deferred[Any]:
        return self.groups.handle(request, NEWEST[type(request).__name__] if version is None else version, "c", "h")

    def ask(self, request: Request, version: int | None = None) -> Any:
        answer = self.start(request, version)
        assert answer.is_done, f"{request} waits"
        return answer.result()

    def commit(self, group: str, offset: int) -> Deferred[Any]:
        return self.start(requests.commit(group, {("t", 0): offset}))

    def committed(self, group: str) -> int:
        (answer,) = self.ask(requests.fetch(group, {"t": [0]})).groups
        assert not answer.error_code
        offset: int = answer.topics[0].partitions[0].committed_offset
        return offset


def group_in(partition: int, node: GroupNode) -> str:
    return next(name for i in count() if node.groups.partition_of(name := f"group-{i}") == partition)


def error_of(answer: Any) -> ErrorCode:
    return ErrorCode(answer.topics[0].partitions[0].error_code)
