"""Fetch (1): read record batches.

- The request is merged with its session (KIP-227); partitions are read in the session's order, as long as the
  request's `max_bytes` last. The first that has something gives at least one batch, however large.
- Answered at once if there are `min_bytes`, if any partition has an error, or if the client does not want to wait; else
  when enough has come, when a partition changes hands, or after `max_wait_ms`.
- Records stay in their files until the answer is sent: never copied here, never looked at.
- Readers of committed records see nothing above the last stable offset, and are told of aborted transactions.
- A reader that says which epoch it read last (version 12) is told where its log and this one part.
"""

from collections.abc import Iterator
from typing import Final, cast

from kafkish.deferred import Deferred
from kafkish.handlers.leaders import endpoints_of, leader_of
from kafkish.handlers.registry import RequestContext, RequestError, handles
from kafkish.partitions.errors import PartitionError
from kafkish.partitions.fetch_session import UNKNOWN, FetchPlan, Wanted
from kafkish.partitions.partition import Partition
from kafkish.partitions.reading import Diverging, find_divergence
from kafkish.partitions.waiting_fetch import Position, wait_for_bytes
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)

_EPOCHS_VERSION: Final = 12
_TOPIC_IDS_VERSION: Final = 13
_NODES_VERSION: Final = 16
_READ_COMMITTED: Final = 1
_NO_RECORDS: Final = cast("memoryview", b"")
_LED_ELSEWHERE: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


def _refuse(request: FetchRequest, version: int, code: ErrorCode, _: str | None) -> FetchResponse:
    """Clients that do not know topic ids look for errors in the partitions."""
    response = FetchResponse(error_code=code, session_id=request.session_id)
    for topic in request.topics if version < _TOPIC_IDS_VERSION else ():
        rows = [
            PartitionData(partition_index=asked.partition, error_code=code, high_watermark=-1, records=_NO_RECORDS)
            for asked in topic.partitions
        ]
        response.responses.append(FetchableTopicResponse(topic=topic.topic, partitions=rows))
    return response


@handles(ApiKey.FETCH, _refuse)
def fetch(request: FetchRequest, context: RequestContext) -> FetchResponse | Deferred[FetchResponse]:
    """Read what is there, or wait for it."""
    plan = context.services.fetch_sessions.plan(request, context.api_version, context.services.wall_ms())
    if plan.error:
        return FetchResponse(error_code=plan.error)
    reading = _Reading(request, plan, context)
    reading.read()
    if reading.is_enough or request.max_wait_ms <= 0 or not plan.wanted:
        return reading.response()
    waiting = wait_for_bytes(
        reading.positions(),
        reading.min_bytes,
        committed=reading.committed,
        max_wait_ms=request.max_wait_ms,
        timers=context.services.timers,
    )
    return waiting.map(lambda _: reading.read_again())


class _Reading:
    """One fetch: what it wants, and what was found."""

    __slots__ = ("_context", "_has_errors", "_has_news", "_plan", "_results", "_size_bytes", "committed", "max_bytes",
                 "min_bytes")  # fmt: skip

    def __init__(self, request: FetchRequest, plan: FetchPlan, context: RequestContext) -> None:
        self._plan = plan
        self._context = context
        self.committed = request.isolation_level == _READ_COMMITTED
        self.max_bytes = min(request.max_bytes, context.services.metadata.settings.fetch.fetch_max_bytes)
        self.min_bytes = min(request.min_bytes, self.max_bytes)

    @property
    def is_enough(self) -> bool:
        return self._has_news or self._size_bytes >= self.min_bytes

    def read(self) -> None:
        """Read every partition, as far as `max_bytes` go."""
        self._results: list[tuple[Wanted, PartitionData]] = []
        self._size_bytes = 0
        self._has_news = False  # something that is not worth waiting with
        self._has_errors = False
        for wanted, asked in self._plan.wanted:
            try:
                row = self._read_one(self._find(wanted), asked)
            except PartitionError as error:
                self._has_news = self._has_errors = True
                row = _refused(asked.partition, error.code)
            self._results.append((wanted, row))

    def read_again(self) -> FetchResponse:
        self.read()
        return self.response()

    def positions(self) -> list[Position]:
        """Where it reads, and how much is there; no partition was refused."""
        asked = [asked for _, asked in self._plan.wanted]
        return [
            Position(self._find(wanted), each.fetch_offset, each.partition_max_bytes, len(row.records or b""))
            for each, (wanted, row) in zip(asked, self._results, strict=True)
        ]

    def _read_one(self, partition: Partition, asked: FetchPartition) -> PartitionData:
        partition.require_leader(asked.current_leader_epoch)
        if asked.last_fetched_epoch >= 0:
            diverging = find_divergence(partition, asked.fetch_offset, asked.last_fetched_epoch)
            if diverging is not None and self._context.api_version < _EPOCHS_VERSION:
                raise RequestError(ErrorCode.UNSUPPORTED_VERSION)  # its session remembers what a later version asked
            if diverging is not None:
                self._has_news = True
                return _diverged(asked.partition, partition, diverging)
        if asked.partition_max_bytes < 0:
            raise PartitionError(ErrorCode.INVALID_FETCH_SIZE)
        limit = max(0, min(asked.partition_max_bytes, self.max_bytes - self._size_bytes))
        is_first = self._size_bytes == 0
        found = partition.read(asked.fetch_offset, limit, committed=self.committed, at_least_one=is_first)
        row = _row(asked.partition, partition)
        if found.records is not None:
            self._size_bytes += found.records.length
            row.records = cast("memoryview", found.records)
        is_cut = found.records is None and limit > 0 and asked.fetch_offset < row.last_stable_offset
        if self.committed and not is_cut:  # Kafka says nothing of transactions where not even one batch fits
            row.aborted_transactions = [
                AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset)
                for each in found.aborted
            ]
        return row

    def _find(self, wanted: Wanted) -> Partition:
        services = self._context.services
        if self._context.api_version >= _TOPIC_IDS_VERSION:
            partition = services.partitions.by_id(wanted.topic_id, wanted.partition)
        else:
            partition = services.partitions.by_name(wanted.topic, wanted.partition)
        if partition is None:
            raise PartitionError(self._why_missing(wanted))
        return partition

    def _why_missing(self, wanted: Wanted) -> ErrorCode:
        image = self._context.services.metadata.image
        if self._context.api_version >= _TOPIC_IDS_VERSION:
            topic = image.topics.by_id.get(wanted.topic_id)
            unknown = self._why_unknown(wanted) if topic is None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        else:
            topic = image.topic(wanted.topic)
            unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        is_elsewhere = topic is not None and wanted.partition in topic.partitions
        return ErrorCode.NOT_LEADER_OR_FOLLOWER if is_elsewhere else unknown

    def _why_unknown(self, wanted: Wanted) -> ErrorCode:
        """A session goes by the name that a topic had: another topic may have it now."""
        name = self._plan.former_name(wanted)
        if name is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        topic = self._context.services.metadata.image.topic(name)
        is_another = topic is not None and wanted.partition in topic.partitions
        return ErrorCode.INCONSISTENT_TOPIC_ID if is_another else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    # -- the response

    def response(self) -> FetchResponse:
        answered = self._plan.answers(self._results)
        response = FetchResponse(session_id=self._plan.session_id, responses=list(_by_topic(answered)))
        leaders = self._name_leaders(answered) if self._has_errors else None
        if leaders and self._context.api_version >= _NODES_VERSION:
            response.node_endpoints = [
                NodeEndpoint(node_id=node.node_id, host=node.host, port=node.port, rack=node.rack)
                for node in endpoints_of(leaders, self._context)
            ]
        return response

    def _name_leaders(self, answered: list[tuple[Wanted, PartitionData]]) -> set[int]:
        """Tell who leads partitions that are not led here (KIP-951)."""
        leaders = set()
        for wanted, row in answered:
            if row.error_code in _LED_ELSEWHERE:
                leader_id, epoch = leader_of(wanted.topic, wanted.topic_id, wanted.partition, self._context)
                row.current_leader = LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=epoch)
                leaders.add(leader_id)
        return leaders


def _row(index: int, partition: Partition) -> PartitionData:
    log = partition.log
    return PartitionData(
        partition_index=index,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset,
        log_start_offset=log.start_offset,
        aborted_transactions=None,
        records=_NO_RECORDS,
    )


def _diverged(index: int, partition: Partition, diverging: Diverging) -> PartitionData:
    row = _row(index, partition)
    row.diverging_epoch = EpochEndOffset(epoch=diverging.epoch, end_offset=diverging.end_offset)
    return row


def _refused(index: int, code: ErrorCode) -> PartitionData:
    """As Kafka has it, there are no aborted transactions in what is unknown, and no telling in what is known."""
    row = PartitionData(partition_index=index, error_code=code, high_watermark=-1, records=_NO_RECORDS)
    row.aborted_transactions = [] if code in UNKNOWN else None
    return row


def _by_topic(rows: list[tuple[Wanted, PartitionData]]) -> Iterator[FetchableTopicResponse]:
    """Rows of one topic that follow each other stand together."""
    topic: FetchableTopicResponse | None = None
    for wanted, row in rows:
        if topic is None or topic.topic != wanted.topic or topic.topic_id != wanted.topic_id:
            topic = FetchableTopicResponse(topic=wanted.topic, topic_id=wanted.topic_id)
            yield topic
        topic.partitions.append(row)
