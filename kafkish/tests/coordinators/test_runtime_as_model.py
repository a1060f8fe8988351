"""The runtime does what the model of it does, on which all promises of the group coordinator are tested."""

from itertools import count
from random import Random
from typing import Any

import pytest

from kafkish.coordinators.groups.coordinator import GroupCoordinator
from kafkish.coordinators.surroundings import RuntimeSettings, Surroundings
from kafkish.deferred import Deferred
from kafkish.tests.coordinators.fake_node import FakeLog, FakeTime
from kafkish.tests.coordinators.groups import requests
from kafkish.tests.coordinators.groups.group_model import NEWEST, GroupModel
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.list_groups import ListGroupsRequest
from kafkish_protocol.schema import Request

EVENTS = 500
NEVER_MS = 10**9


class Twins:
    """A model and a runtime to which the same happens."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.model = GroupModel(commits_at_once=False)
        self.time, self.log = FakeTime(), FakeLog(commits_at_once=False)
        self.time.now = self.model.now
        around = Surroundings(RuntimeSettings(write_timeout_ms=NEVER_MS), self.time, lambda: self.time.now)
        ids = count(1)
        self.groups = GroupCoordinator(1, self.model.settings, lambda: f"{next(ids)}", around)
        self.epochs = count(1)
        self.groups.elect(0, next(self.epochs), self.log)
        self.waiting: dict[int, tuple[Deferred[Any], int]] = {}
        self.members = ["", "stranger"]

    def play(self) -> None:
        """Let one thing happen, and compare."""
        events = (self.ask, self.advance, self.commit, self.refuse, self.restart)
        self.dice.choices(events, (60, 15, 20, 3, 2))[0]()
        self.time.advance(0)
        assert [handle for handle in self.waiting if self.waiting[handle][0].is_done] == [
            handle for handle in self.waiting if handle in self.model.replies
        ]
        for handle in self.waiting.keys() & self.model.replies.keys():
            self.compare(self.model.replies[handle], *self.waiting.pop(handle))
        assert [(record.key, record.value) for record in self.log.records()] == self.model.log

    def compare(self, expected: Any, answer: Deferred[Any], version: int) -> None:
        response = answer.result()
        assert type(response).decode(response.encode(version), version) == expected
        if (member_id := getattr(expected, "member_id", "")) not in self.members:
            self.members.append(member_id)

    def ask(self) -> None:
        request = self.request(self.dice.choice("gh"), self.dice.choice(self.members[-4:]), self.dice.randrange(1, 4))
        version = NEWEST[type(request).__name__]
        handle = self.model.send(request, version)
        self.waiting[handle] = (self.groups.handle(request, version, "client", "127.0.0.1"), version)

    def request(self, group: str, member: str, generation: int) -> Request:
        return self.dice.choice(
            [
                requests.join(group, member),
                requests.join(group, member),
                requests.sync(group, member, generation, {member: b"everything"}),
                requests.heartbeat(group, member, generation),
                requests.commit(group, {("t", 0): generation}, member=member, generation=generation),
                requests.commit(group, {("t", 1): generation}),
                requests.fetch(group, None),
                requests.leave(group, member),
                requests.describe(group),
                requests.delete(group),
                ListGroupsRequest(),
            ]
        )

    def advance(self) -> None:
        duration_ms = self.dice.choice((1, 50, 100, 3_000, 20_000))
        self.model.advance(duration_ms)
        self.time.advance(duration_ms)

    def commit(self) -> None:
        end_offset = self.dice.randint(self.model.high_watermark, len(self.model.log))
        self.model.commit(end_offset)
        self.log.commit(end_offset)

    def refuse(self) -> None:
        error = self.dice.choice((None, None, None, ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.KAFKA_STORAGE_ERROR))
        self.model.refuse_writes_with = self.log.refuse_with = error

    def restart(self) -> None:
        self.model.restart()
        self.groups.resign(0)
        self.log.commit()
        self.groups.elect(0, next(self.epochs), self.log)


@pytest.mark.parametrize("seed", range(10))
def test_runtime_does_what_its_model_does(seed: int) -> None:
    twins = Twins(seed)
    for _ in range(EVENTS):
        twins.play()
    assert len(twins.model.log) > 20
    assert len(twins.model.replies) > EVENTS // 3
    assert len(twins.model.requests) == len(twins.model.replies) + len(twins.waiting)
