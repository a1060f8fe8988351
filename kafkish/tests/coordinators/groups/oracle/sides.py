"""Two coordinators that are asked the same: Apache Kafka's over the wire, ours on its runtime.

Each keeps a transcript of its answers. Member ids are made of dice and timestamps of the clock: both are replaced, the
ids by numbers in the order in which they appear.
"""

import re
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

from kafkish.coordinators.groups.coordinator import GroupCoordinator
from kafkish.coordinators.groups.records import KINDS
from kafkish.coordinators.groups.settings import GroupSettings
from kafkish.coordinators.records import decode_record
from kafkish.coordinators.surroundings import RuntimeSettings, Surroundings
from kafkish.deferred import Deferred
from kafkish.tests.coordinators.fake_node import FakeLog, FakeTime
from kafkish.tests.coordinators.groups import requests
from kafkish_protocol.api import ApiKey, response_class, response_header_version
from kafkish_protocol.messages.delete_groups import DeleteGroupsResponse
from kafkish_protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafkish_protocol.messages.headers import ResponseHeader
from kafkish_protocol.messages.list_groups import ListGroupsResponse
from kafkish_protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafkish_protocol.records import Record, read_batches
from kafkish_protocol.schema import Request
from kafkish_protocol.stored.classic_group import GroupMetadataValue
from kafkish_protocol.stored.offset_commit import OffsetCommitValue
from kafkish_protocol.tests.raw_client import RawClient, frame_of
from kafkish_protocol.types import Uuid

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_PATIENCE = 500
_PAUSE_MS = 10

MAX_MEMBERS = 3
MIN_SESSION_TIMEOUT_MS = 500


class Oracle(NamedTuple):
    """A running Apache Kafka."""

    port: int
    topic_id: Uuid  # of the topic "t"


class Side:
    """One coordinator. `prefix` keeps the groups of one script apart from those of others; it is not in transcripts."""

    def __init__(self, prefix: str, topic_id: Uuid) -> None:
        self.prefix = prefix
        self.topic_id = topic_id
        self.transcript: list[str] = []
        self._ids: dict[str, str] = {}

    def ask(self, request: Request, version: int) -> Any:
        """Send and wait for the answer, which goes into the transcript."""
        return self.finish(self.start(request, version), f"{request}, version {version}")

    def finish(self, started: Callable[[], Any], what: str = "") -> Any:
        """Wait for the answer to what was started."""
        response = self._comparable(started())
        self.transcript.append(self.anonymous(f"{what} -> {response}"))
        return response

    def start(self, request: Request, version: int) -> Callable[[], Any]:
        """Send; what is returned waits for the answer."""
        raise NotImplementedError

    def records(self) -> list[Record]:
        """All that was written to `__consumer_offsets`."""
        raise NotImplementedError

    def _comparable(self, response: Any) -> Any:
        """Kafka has no order of groups or members where it lists them; and it knows other scripts' groups."""
        for group in (response, *getattr(response, "groups", ())):
            if hasattr(group, "members"):
                group.members.sort(key=self._age)
        if isinstance(response, ListGroupsResponse):
            response.groups = [group for group in response.groups if group.group_id.startswith(self.prefix)]
            response.groups.sort(key=lambda group: group.group_id)
        elif isinstance(response, DeleteGroupsResponse):
            response.results.sort(key=lambda result: result.group_id)
        return response

    def _age(self, member: Any) -> int:
        """Members in the order in which the script met them."""
        found = _UUID.search(member.member_id)
        return list(self._ids).index(found[0]) if found and found[0] in self._ids else len(self._ids)

    def await_state(self, group: str, state: str) -> None:
        """Wait until a group is in a state: what was started is being dealt with, or time has passed."""
        self._await(group, lambda described: described.group_state == state)

    def await_members(self, group: str, size: int) -> None:
        """Wait until a group has so many members."""
        self._await(group, lambda described: len(described.members) == size)

    def _await(self, group: str, condition: Callable[[Any], bool]) -> None:
        for _ in range(_PATIENCE):
            (described,) = self.start(requests.describe(group), 5)().groups
            if condition(described):
                return
            self._pause()
        raise AssertionError(f"it never came to that: {described}")

    def _pause(self) -> None:
        raise NotImplementedError

    def anonymous(self, thing: object) -> str:
        """As text, without what differs from run to run."""
        text = str(thing).replace(self.prefix, "")
        return _UUID.sub(lambda found: self._ids.setdefault(found[0], f"<{len(self._ids) + 1}>"), text)

    def written(self) -> list[str]:
        """What this script has written, field by field; and each record's bytes are those that the fields give."""
        mine = [record for record in self.records() if self.prefix.encode() in (record.key or b"")]
        return [self.anonymous(self._timeless(record)) for record in mine]

    def _timeless(self, record: Record) -> tuple[Any, ...]:
        """A record's key, value and version, without times."""
        decoded = decode_record(KINDS, record.key, record.value)
        assert decoded is not None, f"a record of an unknown kind: {record}"
        key, value = decoded
        if value is None:
            return key, None
        version = int.from_bytes((record.value or b"")[:2], "big")
        assert version.to_bytes(2, "big") + value.encode(version) == record.value, "our codec writes the same bytes"
        if isinstance(value, OffsetCommitValue):
            return key, version, replace(value, commit_timestamp=0, expire_timestamp=min(value.expire_timestamp, 0))
        assert isinstance(value, GroupMetadataValue)
        members = sorted(value.members, key=self._age)
        return (
            key,
            version,
            replace(value, members=members, current_state_timestamp=min(value.current_state_timestamp, 0)),
        )


class KafkaSide(Side):
    """Apache Kafka. Each request that waits has a connection of its own."""

    def __init__(self, prefix: str, topic_id: Uuid, port: int) -> None:
        super().__init__(prefix, topic_id)
        self._port = port
        self._idle: list[RawClient] = []

    def start(self, request: Request, version: int) -> Callable[[], Any]:
        client = self._idle.pop() if self._idle else RawClient(self._port)
        key = ApiKey(request.schema.api_key or 0)
        client.socket.sendall(frame_of(request, version))

        def finish() -> Any:
            body = client.read_frame()
            self._idle.append(client)
            _, start = ResponseHeader.schema.decoders[response_header_version(key, version)](body)
            return response_class(key).decode(body, version, start)

        return finish

    def _pause(self) -> None:
        time.sleep(_PAUSE_MS / 1_000)

    def log(self) -> bytes:
        """The whole log of `__consumer_offsets`."""
        with RawClient(self._port) as client:
            topic = MetadataRequestTopic(name="__consumer_offsets")
            topic_id = client.send(MetadataRequest(topics=[topic]), 12).topics[0].topic_id
            partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=10_000_000)
            topics = [FetchTopic(topic_id=topic_id, partitions=[partition])]
            fetch = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=10_000_000, topics=topics)
            fetched = client.send(fetch, 16).responses[0].partitions[0]
        assert fetched.error_code == 0
        return bytes(fetched.records)

    def records(self) -> list[Record]:
        return [record for batch in read_batches(self.log()) for record in batch.records()]


class OurSide(Side):
    """Our coordinator."""

    def __init__(self, prefix: str, topic_id: Uuid, log: bytes = b"") -> None:
        super().__init__(prefix, topic_id)
        self._time, self._log = FakeTime(), FakeLog()
        for batch in read_batches(log):
            self._log.add(bytes(batch.view), batch.base_offset)
        self._log.commit()
        ids = count(1)
        around = Surroundings(RuntimeSettings(), self._time, lambda: self._time.now)
        settings = GroupSettings(
            initial_rebalance_delay_ms=0, max_members=MAX_MEMBERS, min_session_timeout_ms=MIN_SESSION_TIMEOUT_MS
        )
        self._groups = GroupCoordinator(1, settings, lambda: f"{next(ids):08x}-0000-4000-8000-000000000000", around)
        self._groups.elect(0, 1, self._log)
        self._time.advance(0)

    def start(self, request: Request, version: int) -> Callable[[], Any]:
        arrived: Request = type(request).decode(request.encode(version), version)
        for topic in getattr(arrived, "topics", None) or ():
            if hasattr(topic, "topic_id"):
                topic.topic_id = self.topic_id  # the handler's part
        answer: Deferred[Any] = self._groups.handle(arrived, version, "raw", "127.0.0.1")

        def finish() -> Any:
            for _ in range(_PATIENCE):
                if answer.is_done:
                    return type(answer.result()).decode(answer.result().encode(version), version)
                self._pause()
            raise AssertionError(f"never answered: {request}")

        return finish

    def _pause(self) -> None:
        self._time.advance(_PAUSE_MS)

    def records(self) -> list[Record]:
        return self._log.records()
