"""A group of the classic protocol, spoken by hand: how long a rebalance of all its members takes."""

import select
import struct
import time
from typing import Any, Final

from bench.versus.brokers import Broker
from bench.versus.rows import Figures, Sizes, topic_of
from bench.versus.wire import TIMEOUT_S, Wire, frame
from kafkish_protocol.api import ApiKey
from kafkish_protocol.messages.find_coordinator import FindCoordinatorRequest
from kafkish_protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kafkish_protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

REBALANCES: Final = 5
MEMBER_ID_REQUIRED: Final = 79


class Group:
    """Members, each on its connection, that rebalance when told to."""

    def __init__(self, broker: Broker, topic: str, members: int) -> None:
        self._name, self._topic, self._round = f"group-of-{topic}", topic, 0
        self.members = [Wire(broker.address) for _ in range(members)]
        self._wait_for_coordinator()
        self._ids = [self._new_id(member) for member in self.members]
        self._form()

    def _wait_for_coordinator(self) -> None:
        """The first question for a coordinator has Kafka create its topic."""
        question = FindCoordinatorRequest(key_type=0, coordinator_keys=[self._name])
        deadline_s = time.monotonic() + TIMEOUT_S
        while self.members[0].ask(question).coordinators[0].error_code and time.monotonic() < deadline_s:
            time.sleep(0.1)

    def _new_id(self, member: Wire) -> str:
        deadline_s = time.monotonic() + TIMEOUT_S
        while (answer := member.ask(self._join(""))).error_code != MEMBER_ID_REQUIRED:
            assert time.monotonic() < deadline_s, answer
            time.sleep(0.1)  # the coordinator is loading
        member_id: str = answer.member_id
        return member_id

    def _form(self) -> None:
        """Join until all are in one generation. Whoever is answered while others wait is asked to join again."""
        generations: dict[int, int] = {}
        waiting: set[int] = set()
        deadline_s = time.monotonic() + TIMEOUT_S
        while len(generations) < len(self.members) or len(set(generations.values())) > 1:
            assert time.monotonic() < deadline_s, "the members did not find together"
            for number in set(range(len(self.members))) - waiting:
                self.members[number].socket.sendall(frame(self._join(self._ids[number])))
                waiting.add(number)
            time.sleep(0.1)
            for number in sorted(waiting):
                member = self.members[number]
                if select.select([member.socket], [], [], 0)[0]:
                    generations[number] = member.answer(ApiKey.JOIN_GROUP).generation_id
                    waiting.discard(number)
            if waiting:
                generations.clear()

    def _join(self, member_id: str) -> JoinGroupRequest:
        """What a member wants is different in each round, so that whoever joins first starts a rebalance."""
        topic = self._topic.encode()
        wanted = struct.pack(">hih", 0, 1, len(topic)) + topic + struct.pack(">ii", 4, self._round)
        return JoinGroupRequest(
            group_id=self._name, session_timeout_ms=45_000, rebalance_timeout_ms=60_000, member_id=member_id,
            protocol_type="consumer", protocols=[JoinGroupRequestProtocol(name="range", metadata=wanted)],
        )  # fmt: skip

    def rebalance(self) -> float:
        """All join, the leader assigns, all have their share; milliseconds."""
        self._round += 1
        joins = [frame(self._join(member_id)) for member_id in self._ids]
        start_s = time.perf_counter()
        for member, data in zip(self.members, joins, strict=True):
            member.socket.sendall(data)
        joined = [member.answer(ApiKey.JOIN_GROUP) for member in self.members]
        for member, answer in zip(self.members, joined, strict=True):
            member.socket.sendall(frame(self._sync(answer)))
        synced = [member.answer(ApiKey.SYNC_GROUP) for member in self.members]
        took_ms = (time.perf_counter() - start_s) * 1000
        errors = [answer.error_code for answer in (*joined, *synced) if answer.error_code]
        assert not errors, f"a member was refused: {errors}"
        return took_ms

    def _sync(self, joined: Any) -> SyncGroupRequest:
        shares = [SyncGroupRequestAssignment(member_id=each.member_id, assignment=bytes(40)) for each in joined.members]
        return SyncGroupRequest(
            group_id=self._name, generation_id=joined.generation_id, member_id=joined.member_id,
            protocol_type="consumer", protocol_name=joined.protocol_name, assignments=shares,
        )  # fmt: skip


def rebalance(broker: Broker, sizes: Sizes) -> Figures:
    """The best of a few, of a group that is there already."""
    with topic_of(broker, sizes.members) as (_, topic):
        group = Group(broker, topic.name, sizes.members)
        took_ms = min(group.rebalance() for _ in range(REBALANCES))
        for member in group.members:
            member.close()
    return {"ms": took_ms}
