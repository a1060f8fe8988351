"""A consumer of the classic protocol for the simulation: does what real ones do, and all else that they may do."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from kafkish.tests.coordinators.groups import requests
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.schema import Request

PARTITIONS = 6
SESSION_MS = 6_000
REBALANCE_MS = 15_000
PATIENCE_MS = (3_000, 10_000, 30_000)  # then the connection is given up, and the request sent again on another one

Send = Callable[["SimConsumer", Request, int], int]


@dataclass(eq=False)
class SimConsumer:
    """One process. A crash forgets all but the name and the instance id."""

    name: str
    group: str
    instance: str | None
    dice: Random
    send: Send
    member: str = ""
    generation: int = -1
    phase: str = "out"  # out, joining, syncing, member
    owned: tuple[int, ...] = ()
    waits_for: int | None = None  # the token of the request whose answer counts
    waits_since_ms: int = 0
    patience_ms: int = 0
    asleep_until_ms: int = 0
    metadata: int = 0
    protocol: tuple[str | None, str | None] = (None, None)
    position: int = 0

    def wake(self, now_ms: int) -> None:
        """A turn of the poll loop."""
        if now_ms < self.asleep_until_ms:
            return
        if self.waits_for is not None:
            if now_ms - self.waits_since_ms > self.patience_ms:
                self.waits_for, self.phase = None, "out"
            return
        roll = self.dice.random()
        if roll < 0.03:
            self.asleep_until_ms = now_ms + self.dice.randrange(2 * SESSION_MS)
        elif roll < 0.05:
            self.crash()
        elif self.phase != "member":
            self._join(now_ms)
        else:
            self._work(roll, now_ms)

    def crash(self) -> None:
        """Start anew."""
        self.member, self.generation, self.phase, self.owned, self.waits_for = "", -1, "out", (), None

    def _ask(self, request: Request, versions: range, now_ms: int) -> None:
        oldest = {"JoinGroupRequest": 5, "OffsetCommitRequest": 7}.get(type(request).__name__, 3)
        low = max(versions.start, oldest) if self.instance else versions.start
        self.waits_since_ms, self.patience_ms = now_ms, self.dice.choice(PATIENCE_MS)
        self.waits_for = self.send(self, request, self.dice.randrange(low, versions.stop))

    def _join(self, now_ms: int) -> None:
        self.phase = "joining"
        protocols = {"range": f"{self.name} {self.metadata}".encode(), "sticky": b""}
        request = requests.join(
            self.group,
            self.member,
            instance=self.instance,
            protocols=protocols,
            session_ms=SESSION_MS,
            rebalance_ms=REBALANCE_MS,
        )
        self._ask(request, range(10), now_ms)

    def _work(self, roll: float, now_ms: int) -> None:
        if roll < 0.08:
            self.metadata += 1
            self._join(now_ms)
        elif roll < 0.10:
            self._ask(requests.leave(self.group, (self.member, self.instance)), range(6), now_ms)
        elif roll < 0.5:
            beat = requests.heartbeat(self.group, self.member, self.generation, instance=self.instance)
            self._ask(beat, range(5), now_ms)
        elif self.owned:
            self._commit(self.generation, now_ms)
            if self.dice.random() < 0.5:
                self.waits_for = None  # asynchronously: the answer does not matter, and the next request overtakes it

    def _commit(self, generation: int, now_ms: int) -> None:
        self.position += 1
        offsets = {("t", partition): self.position for partition in self.owned or (0,)}
        request = requests.commit(
            self.group, offsets, member=self.member, generation=generation, instance=self.instance
        )
        self._ask(request, range(2, 10), now_ms)

    # -- answers

    def receive(self, token: int, response: Any, now_ms: int) -> None:
        """An answer arrives, perhaps too late to matter."""
        if token != self.waits_for:
            return
        self.waits_for = None
        match type(response).__name__:
            case "JoinGroupResponse":
                self._on_joined(response, now_ms)
            case "SyncGroupResponse":
                self._on_synced(response)
            case "HeartbeatResponse":
                self._on_error(response.error_code)
            case "OffsetCommitResponse":
                self._on_error(response.topics[0].partitions[0].error_code)
            case "LeaveGroupResponse":
                self.crash()

    def _on_joined(self, response: Any, now_ms: int) -> None:
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member = response.member_id
            self._join(now_ms)
        elif response.error_code:
            self._on_error(response.error_code)
        else:
            self.member, self.generation = response.member_id, response.generation_id
            self.protocol = ("consumer", response.protocol_name)
            self.phase = "syncing"
            if self.dice.random() < 0.1:
                self._commit(self.generation - 1, now_ms)  # a thread of its own that has not heard the news
            leads = response.leader == response.member_id and not response.skip_assignment
            assignments = self._assign([member.member_id for member in response.members]) if leads else None
            self._sync(assignments, now_ms)

    def _assign(self, members: list[str]) -> dict[str, bytes]:
        shuffled = self.dice.sample(members, len(members))
        shares = {member: list(range(i, PARTITIONS, len(members))) for i, member in enumerate(shuffled)}
        return {member: json.dumps(share).encode() for member, share in shares.items()}

    def _sync(self, assignments: dict[str, bytes] | None, now_ms: int) -> None:
        request = requests.sync(
            self.group, self.member, self.generation, assignments, instance=self.instance, protocol=self.protocol
        )
        self._ask(request, range(6), now_ms)

    def _on_synced(self, response: Any) -> None:
        if response.error_code:
            self._on_error(response.error_code)
        else:
            self.phase = "member"
            self.owned = tuple(json.loads(response.assignment or b"[]"))

    def _on_error(self, error: int) -> None:
        if not error:
            return
        self.phase, self.owned = "out", ()
        if error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID, ErrorCode.GROUP_ID_NOT_FOUND):
            self.crash()
