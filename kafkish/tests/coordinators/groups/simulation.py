"""Groups under every misfortune, from one seed: lost and late messages, crashes, pauses, slow logs, clock steps."""

import heapq
import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import count
from random import Random
from typing import Any

from kafkish.coordinators.groups.refusals import refuse
from kafkish.coordinators.groups.shard import GroupShard
from kafkish.coordinators.records import decode_record
from kafkish.tests.coordinators.groups.group_model import GroupModel
from kafkish.tests.coordinators.groups.invariants import check_shard
from kafkish.tests.coordinators.groups.sim_consumer import SESSION_MS, SimConsumer
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.join_group import JoinGroupRequest
from kafkish_protocol.messages.offset_commit import OffsetCommitRequest
from kafkish_protocol.messages.sync_group import SyncGroupRequest
from kafkish_protocol.schema import Request
from kafkish_protocol.stored.classic_group import GroupMetadataKey, GroupMetadataValue

CONSUMERS = 12
GROUPS = ("g", "h")
LOSS = 0.02  # of each message, either way
REFUSALS = (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.MESSAGE_TOO_LARGE)


class Simulation:
    """A coordinator, its log, a network, and consumers; time is a number."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.model = GroupModel(
            commits_at_once=False,
            initial_rebalance_delay_ms=self.dice.choice((0, 500, 3_000)),
            max_members=self.dice.choice((5, 100)),
            new_member_join_timeout_ms=40_000,
        )
        self.model.after_tick = self.check
        self.is_up = True
        self.term = 1
        self.events: list[tuple[int, int, Callable[[], None]]] = []
        self.order = count()
        self.tokens = count(1)
        self.open_requests: dict[int, Callable[[Any], None]] = {}  # handle -> what to do with its answer
        self.happened: Counter[str] = Counter()
        self.owners: dict[tuple[str, int, int], str] = {}  # group, generation, partition -> whoever was told it is his
        self.leaders: dict[tuple[int, str, int], tuple[str, str]] = {}  # term, group, generation -> leader, protocol
        self.stored_at: dict[tuple[str, int], int] = {}  # group, generation -> where the log has its assignment
        self.shadow, self.shadow_offset = self.model.make_group_shard(), 0
        self.consumers = [self._consumer(i) for i in range(CONSUMERS)]
        for consumer in self.consumers:
            self._wake(consumer)
        self._later(100, self._move_high_watermark)
        self._later(5_000, self._misfortune)

    def _consumer(self, i: int) -> SimConsumer:
        instance = f"instance-{i}" if i % 3 == 0 else None
        return SimConsumer(f"c{i}", GROUPS[i % len(GROUPS)], instance, Random(self.dice.random()), self._send)

    # -- time

    @property
    def now_ms(self) -> int:
        return self.model.now.monotonic_ms

    def _later(self, delay_ms: int, action: Callable[[], None]) -> None:
        heapq.heappush(self.events, (self.now_ms + delay_ms, next(self.order), action))

    def run(self, events: int) -> None:
        """Let so many things happen, then let everything come to rest."""
        for _ in range(events):
            at_ms, _, action = heapq.heappop(self.events)
            self.model.advance(at_ms - self.now_ms)
            action()
            self.check()
            self._deliver_answers()
        self._rest()

    def _wake(self, consumer: SimConsumer) -> None:
        consumer.wake(self.now_ms)
        self._later(self.dice.randrange(200, SESSION_MS // 2), partial(self._wake, consumer))

    def _rest(self) -> None:
        """Nobody asks any more: within the longest timeout all who wait are answered, and silent members are gone."""
        self._restore_log()
        if not self.is_up:
            self._elect()
        for _ in range(100):
            self.model.advance(1_000)
            self.model.commit()
            self.check()
        assert not self.model.waiting, f"never answered: {[self.model.requests[h] for h in self.model.waiting]}"
        for group in self.model.shard.state.groups.values():
            assert group.state_name == "Empty", f"{group.group_id} is {group.state_name} without anybody in it"
        self._check_replay(self.model.make_group_shard(), 0)

    # -- the network

    def _send(self, consumer: SimConsumer, request: Request, version: int) -> int:
        token = next(self.tokens)
        if self.dice.random() >= LOSS:
            self._later(self._latency_ms(), partial(self._arrive, consumer, token, request, version))
        return token

    def _latency_ms(self) -> int:
        return self.dice.randrange(1, 20) if self.dice.random() < 0.95 else self.dice.randrange(4_000)

    def _arrive(self, consumer: SimConsumer, token: int, request: Request, version: int) -> None:
        self.happened[type(request).__name__] += 1
        if not self.is_up:
            error = self.dice.choice((ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
            self._answer(consumer, token, refuse(request, version, error))
            return
        may_commit = isinstance(request, OffsetCommitRequest) and self._may_commit(request)
        handle = self.model.send(request, version, consumer.name)
        committable_at = len(self.model.log) if may_commit else None
        self.open_requests[handle] = partial(self._on_answer, consumer, token, request, committable_at)

    def _deliver_answers(self) -> None:
        for handle in [handle for handle in self.open_requests if handle in self.model.replies]:
            self.open_requests.pop(handle)(self.model.replies[handle])

    def _on_answer(
        self, consumer: SimConsumer, token: int, request: Request, committable_at: int | None, response: Any
    ) -> None:
        if isinstance(request, SyncGroupRequest) and not response.error_code:
            self._note_owner(consumer, request, response)
        elif isinstance(request, JoinGroupRequest) and not response.error_code:
            self._note_generation(request, response)
        elif isinstance(request, OffsetCommitRequest):
            self._note_commit(request, committable_at, response)
        self._answer(consumer, token, response)

    def _answer(self, consumer: SimConsumer, token: int, response: Any) -> None:
        if self.dice.random() >= LOSS:
            self._later(self._latency_ms(), lambda: consumer.receive(token, response, self.now_ms))

    # -- the coordinator's misfortunes

    def _move_high_watermark(self) -> None:
        if self.is_up:
            self.model.commit(self.dice.randint(self.model.high_watermark, len(self.model.log)))
        self._later(self.dice.choice((5, 20, 500, 4_000)), self._move_high_watermark)

    def _misfortune(self) -> None:
        match self.dice.randrange(6):
            case 0 if self.is_up:
                self._resign()
                self._later(self.dice.randrange(1, 3_000), self._elect)
            case 1:
                self.model.refuse_writes_with = self.dice.choice(REFUSALS)
                self._later(self.dice.randrange(1, 3_000), self._restore_log)
            case 2:
                self.happened["clock steps"] += 1
                self.model.step_wall_clock(self.dice.choice((-288_000, 288_000)))
            case 3 if self.is_up:
                self.happened["writes timed out"] += len(self.model.open_writes)
                self.model.time_out_writes()
            case _:
                self.dice.choice(self.consumers).crash()
        self._later(self.dice.randrange(500, 10_000), self._misfortune)

    def _restore_log(self) -> None:
        self.model.refuse_writes_with = None

    def _resign(self) -> None:
        self.is_up = False
        self.model.resign()

    def _elect(self) -> None:
        """The new leader has all that was committed, and some of the rest."""
        if self.is_up:
            return
        self.happened["failovers"] += 1
        self.term += 1
        end_offset = self.dice.randint(self.model.high_watermark, len(self.model.log))
        self.stored_at = {place: at for place, at in self.stored_at.items() if at < end_offset}
        self.shadow, self.shadow_offset = self.model.make_group_shard(), 0
        self.model.elect(end_offset)
        self.is_up = True

    # -- what must hold

    def _may_commit(self, request: OffsetCommitRequest) -> bool:
        """Is whoever commits a member of the current generation, and the current one of its instance id?"""
        group = self.model.shard.state.groups.get(request.group_id)
        if group is None or request.member_id not in group.members:
            return False
        is_fenced = group.members[request.member_id].group_instance_id != request.group_instance_id
        return group.generation_id == request.generation_id_or_member_epoch and not is_fenced

    def _note_commit(self, request: OffsetCommitRequest, committable_at: int | None, response: Any) -> None:
        """What is acknowledged was allowed, and cannot be lost."""
        errors = {partition.error_code for topic in response.topics for partition in topic.partitions}
        if ErrorCode.NONE in errors:
            self.happened["commits acknowledged"] += 1
            assert committable_at is not None, f"a stale commit was taken: {request}"
            assert committable_at <= self.model.high_watermark, "a commit was acknowledged before it was committed"

    def _note_owner(self, consumer: SimConsumer, request: SyncGroupRequest, response: Any) -> None:
        """A partition has one owner in a generation; a static member may come back for what is its own."""
        self.happened["assignments received"] += 1
        stored_at = self.stored_at[request.group_id, request.generation_id]
        assert stored_at < self.model.high_watermark, "an assignment was handed out before it was committed"
        for partition in json.loads(response.assignment or b"[]"):
            place = (request.group_id, request.generation_id, partition)
            identity = consumer.instance or request.member_id
            owner = self.owners.setdefault(place, identity)
            assert owner == identity, f"{place} belongs to {owner} and to {identity}"

    def _note_generation(self, request: JoinGroupRequest, response: Any) -> None:
        """Whoever is told of a generation is told the same, as long as no static leader changes its id."""
        self.happened["joined"] += 1
        place = (self.term, request.group_id, response.generation_id)
        told = self.leaders.setdefault(place, (response.leader, response.protocol_name))
        same_leader = told[0] == response.leader or told[0].startswith("instance-")
        assert same_leader, f"{place} has leaders {told} and {response.leader}"
        assert told[1] == response.protocol_name

    def check(self) -> None:
        """After every event."""
        if not self.is_up:
            return
        check_shard(self.model.shard, self.now_ms)
        self.shadow_offset = self._check_replay(self.shadow, self.shadow_offset)

    def _check_replay(self, shadow: GroupShard, offset: int) -> int:
        """A shard that reads the log, and nothing else, remembers the same."""
        for at, (key_bytes, value_bytes) in enumerate(self.model.log[offset:], offset):
            decoded = decode_record(self.model.kinds, key_bytes, value_bytes)
            assert decoded is not None
            key, value = decoded
            shadow.replay(key, value)
            if isinstance(value, GroupMetadataValue) and isinstance(key, GroupMetadataKey) and value.members:
                self.stored_at.setdefault((key.group, value.generation), at)
        assert shadow.state.stored_groups == self.model.shard.state.stored_groups
        assert dict(shadow.state.offsets.items()) == dict(self.model.shard.state.offsets.items())
        return len(self.model.log)


def simulate(seed: int, events: int = 3_000) -> Counter[str]:
    """Play a seed; what happened, for the curious. A failure's message names the seed."""
    simulation = Simulation(seed)
    try:
        simulation.run(events)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}, {simulation.now_ms} ms: {error}") from error
    return simulation.happened
