"""What exists on both brokers, as far as their replies have told: what the next requests can be about."""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any

from kafkish.diff.script import Step
from kafkish_protocol.api import ApiKey
from kafkish_protocol.types import ZERO_UUID, Uuid


@dataclass(slots=True)
class Topic:
    """A topic by its name and its symbol."""

    name: str
    id: Uuid = ZERO_UUID
    partitions: int = 1


@dataclass(slots=True)
class Producer:
    """An idempotent producer, and the sequence that each partition expects of it."""

    id: int
    epoch: int = 0
    sequences: dict[tuple[str, int], int] = field(default_factory=lambda: defaultdict(int))


@dataclass(slots=True)
class Session:
    """A fetch session: the id, the epoch of its next request, and its version."""

    id: int
    epoch: int
    version: int


@dataclass(slots=True)
class Member:
    """A member of a classic group, and the connection that it uses."""

    group: str
    lane: int
    instance: str | None = None
    id: str = ""
    generation: int = -1
    leads: list[str] | None = None  # the members that it assigns, if it is the leader
    is_asked: bool = False  # a request of it waits for others
    is_synced: bool = False


class World:
    """Learns from replies in which symbols stand for what the brokers named."""

    def __init__(self, base_ms: int) -> None:
        self.base_ms = base_ms
        self.tag = base_ms // 1000 % 1_000_000  # in names, so that a run finds nothing of an earlier one
        self.topics: dict[str, Topic] = {}
        self.producers: list[Producer] = []
        self.sessions: list[Session] = []
        self.members: list[Member] = []
        self.abandoned_lanes: list[int] = []
        self._abandoned_groups: set[str] = set()

    def group_names(self) -> list[str]:
        """The groups in use. One in which a member hangs is left behind."""
        names = (f"g{self.tag}-{number}" for number in count())
        return list(islice((name for name in names if name not in self._abandoned_groups), 4))

    def observe(self, step: Step, reply: Any) -> None:
        """Learn from an answered request."""
        match step.key:
            case ApiKey.METADATA if step.version >= 10 and step.request.topics is None:  # type: ignore[attr-defined]
                found = [row for row in reply.topics if row.error_code == 0 and row.name]
                self.topics = {row.name: Topic(row.name, row.topic_id, len(row.partitions)) for row in found}
            case ApiKey.INIT_PRODUCER_ID if reply.error_code == 0:
                self.producers = [*self.producers[-5:], Producer(reply.producer_id, reply.producer_epoch)]
            case ApiKey.FETCH if step.version >= 7:
                self._observe_session(step, reply)
            case ApiKey.JOIN_GROUP:
                self._observe_join(step, reply)
            case ApiKey.SYNC_GROUP:
                for member in self.members:
                    if member.lane == step.lane:
                        member.is_asked, member.is_synced = False, reply.error_code == 0

    def _observe_session(self, step: Step, reply: Any) -> None:
        request: Any = step.request
        if reply.error_code or reply.session_id == 0:
            self.sessions = [each for each in self.sessions if each.id != request.session_id]
        elif request.session_epoch == 0:
            self.sessions = [*self.sessions[-3:], Session(reply.session_id, 1, step.version)]
        for session in self.sessions:
            if session.id == request.session_id and session.epoch == request.session_epoch:
                session.epoch += 1

    def _observe_join(self, step: Step, reply: Any) -> None:
        for member in self.members:
            if member.lane == step.lane:
                member.is_asked = member.is_synced = False
                if reply.error_code in (0, 79):  # 79 is MEMBER_ID_REQUIRED
                    member.id, member.generation = reply.member_id, reply.generation_id
                    leads = reply.error_code == 0 and reply.leader == reply.member_id
                    member.leads = [each.member_id for each in reply.members] if leads else None
                else:
                    member.id, member.generation = "", -1

    def leave_behind(self, group: str) -> None:
        """Use other names than this group's from now on, and none of its members."""
        self.abandoned_lanes += [each.lane for each in self.members if each.group == group]
        self.members = [each for each in self.members if each.group != group]
        self._abandoned_groups.add(group)

    def may_leave(self, member: Member) -> bool:
        """Not if it leads two others: which of them is the next leader, a hash table of random names decides."""
        return member.leads is None or sum(each.group == member.group for each in self.members) < 3
