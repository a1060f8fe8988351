"""Produce (0): append record batches to partitions.

- Each partition is answered for itself; what one refuses does not concern the others.
- acks 0 has no answer: an error closes the connection, so that the client notices. acks 1 waits for this node, -1 for
  all replicas in sync, or for the request's timeout. Anything else is refused (21).
- Since version 13 topics come by id. Since version 10 a partition that is led elsewhere is answered with its leader.
- A transactional batch needs the transactional id in the request (53).
- Nobody but Kafka's own tools writes to internal topics (17).
"""

import struct
from typing import Final, TypeAlias

from kafkish.deferred import Deferred
from kafkish.handlers.leaders import endpoints_of, leader_of
from kafkish.handlers.refusals import refuse
from kafkish.handlers.registry import Disconnect, RequestContext, RequestError, handles
from kafkish.metadata.topics import INTERNAL_TOPICS
from kafkish.partitions.errors import PartitionError
from kafkish.partitions.partition import Partition
from kafkish.partitions.validation import ProduceError, only_batch
from kafkish.timers import Timer, Timers
from kafkish_protocol.api import ApiKey
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from kafkish_protocol.records import Batch
from kafkish_protocol.records.batch import LENGTH_END, MAGIC, SMALLEST_LEGACY_BYTES, TRANSACTIONAL_BIT
from kafkish_protocol.schema import Response

_ADMIN_CLIENT: Final = "__admin_client"
_TOPIC_IDS_VERSION: Final = 13
_LEADERS_VERSION: Final = 10
_ACKS: Final = (-1, 0, 1)
_START: Final = struct.Struct(">8xi4xb4xh")  # of a batch: its length, magic and attributes
_WITHOUT_LOG_START: Final = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.INVALID_REQUIRED_ACKS,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.KAFKA_STORAGE_ERROR,
    }
)


def _refuse(request: ProduceRequest, version: int, code: ErrorCode, message: str | None) -> Response:
    """A client that wants no answer must not get one."""
    if request.acks == 0:
        raise Disconnect(f"Produce with acks 0 failed: {code.name}")
    return refuse(request, version, code, message)


@handles(ApiKey.PRODUCE, _refuse)
def produce(request: ProduceRequest, context: RequestContext) -> ProduceResponse | Deferred[ProduceResponse] | None:
    """Append, and answer when the records are as safe as the client wants."""
    _check_first_batches(request)
    wanted = [_wanted(topic, context) for topic in request.topic_data]
    answer = _Answer(request.acks, context)
    for topic, partitions in zip(request.topic_data, wanted, strict=True):
        rows = [each if isinstance(each, PartitionProduceResponse) else answer.append(*each) for each in partitions]
        answer.response.responses.append(
            TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=rows)
        )
    if request.acks == 0:
        _check_silence(answer.response)
        return None
    if answer.has_errors and context.api_version >= _LEADERS_VERSION:
        _add_leaders(answer.response, context)
    return answer.when_done(request.timeout_ms, context.services.timers) if answer.waiting else answer.response


_Wanted: TypeAlias = tuple[int, str, Partition | None, Batch]
"""An append that nothing speaks against, as far as the request can tell; None: another node has the partition."""


class _Answer:
    """The response, and which of its rows still wait for replicas."""

    __slots__ = ("_acks", "_client_id", "_done", "_now_ms", "_timer", "has_errors", "response", "waiting")

    def __init__(self, acks: int, context: RequestContext) -> None:
        self.response = ProduceResponse()
        self.waiting: list[tuple[PartitionProduceResponse, Deferred[None]]] = []
        self.has_errors = False
        self._acks = acks
        self._client_id = context.client_id
        self._now_ms = context.services.wall_ms()
        self._done: Deferred[ProduceResponse]
        self._timer: Timer | None = None

    def append(self, index: int, topic: str, partition: Partition | None, batch: Batch) -> PartitionProduceResponse:
        """Append to one partition; its row."""
        try:
            if partition is None or topic in INTERNAL_TOPICS or self._acks not in _ACKS:
                partition = self._writable(topic, partition)
            appended = partition.produce(batch, self._acks, self._now_ms)
        except (PartitionError, ProduceError) as error:
            self.has_errors = True
            return _row_of_error(index, error, partition)
        row = PartitionProduceResponse(
            index=index,
            base_offset=appended.first_offset,
            log_append_time_ms=appended.log_append_time_ms,
            log_start_offset=partition.log.start_offset,
        )
        if self._acks and not partition.is_acknowledged(appended.last_offset, self._acks):
            self.waiting.append((row, partition.replicated(appended.last_offset)))
        return row

    def _writable(self, topic: str, partition: Partition | None) -> Partition:
        """The partition, if this client may write there in this way."""
        if self._acks not in _ACKS:
            raise PartitionError(ErrorCode.INVALID_REQUIRED_ACKS)
        if topic in INTERNAL_TOPICS and self._client_id != _ADMIN_CLIENT:
            raise PartitionError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        if partition is None:
            raise PartitionError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return partition

    def when_done(self, timeout_ms: int, timers: Timers) -> Deferred[ProduceResponse]:
        """The response, when every row is settled or the client's patience ends."""
        self._done = Deferred()
        self._timer = timers.call_later(max(timeout_ms, 0), self._give_up)
        for _, acknowledged in list(self.waiting):
            acknowledged.on_done(self._one_is_done)
        return self._done

    def _one_is_done(self, _: Deferred[None]) -> None:
        if self._done.is_done:
            return
        still = []
        for row, acknowledged in self.waiting:
            if acknowledged.is_done:
                _settle(row, acknowledged)
            else:
                still.append((row, acknowledged))
        self.waiting = still
        if not still:
            self._finish()

    def _give_up(self) -> None:
        """Whether the records stay is not known yet."""
        for row, _ in self.waiting:
            _fail(row, ErrorCode.REQUEST_TIMED_OUT)
        self._finish()

    def _finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if not self._done.is_done:
            self._done.resolve(self.response)


def _check_first_batches(request: ProduceRequest) -> None:
    """What can be no batch, or wants a transaction where there is none, is why Kafka takes nothing of the request."""
    for topic in request.topic_data:
        for data in topic.partition_data:
            records = data.records
            if records is None or len(records) < LENGTH_END:
                continue
            start = records if len(records) >= _START.size else bytes(records).ljust(_START.size, b"\0")
            length, magic, attributes = _START.unpack_from(start)
            if length < SMALLEST_LEGACY_BYTES:
                least = f"the minimum record overhead ({SMALLEST_LEGACY_BYTES})"
                raise RequestError(ErrorCode.CORRUPT_MESSAGE, f"Record size {length} is less than {least}")
            if not 0 <= magic <= MAGIC:
                raise RequestError(ErrorCode.CORRUPT_MESSAGE, f"Invalid magic found in record: {magic}")
            is_transactional = magic == MAGIC and attributes & TRANSACTIONAL_BIT
            if is_transactional and request.transactional_id is None and len(records) >= length + LENGTH_END:
                raise RequestError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)


def _wanted(topic: TopicProduceData, context: RequestContext) -> list[_Wanted | PartitionProduceResponse]:
    """For each partition what is to be appended and where; or the row that says why that cannot be."""
    services, image = context.services, context.services.metadata.image
    by_id = context.api_version >= _TOPIC_IDS_VERSION
    known = image.topics.by_id.get(topic.topic_id) if by_id else image.topic(topic.name)
    unknown = ErrorCode.UNKNOWN_TOPIC_ID if by_id and known is None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    wanted: list[_Wanted | PartitionProduceResponse] = []
    for data in topic.partition_data:
        partition = None if known is None else services.partitions.by_id(known.id, data.index)
        if known is None or (partition is None and data.index not in known.partitions):
            wanted.append(_refused(data.index, unknown))
            continue
        try:
            batch = only_batch(data.records, context.api_version)
        except ProduceError as error:
            if error.code is ErrorCode.UNKNOWN_SERVER_ERROR:
                raise RequestError(error.code) from None
            wanted.append(_refused(data.index, error.code))
        else:
            wanted.append((data.index, known.name, partition, batch))
    return wanted


# -- rows that tell of errors


def _row_of_error(
    index: int, error: PartitionError | ProduceError, partition: Partition | None
) -> PartitionProduceResponse:
    row = _refused(index, error.code)
    if partition is not None and error.code not in _WITHOUT_LOG_START:
        row.log_start_offset = partition.log.start_offset
    if isinstance(error, ProduceError) and error.records:
        row.error_message = error.message
        row.record_errors = [
            BatchIndexAndErrorMessage(batch_index=record.index, batch_index_error_message=record.message)
            for record in error.records
        ]
    return row


def _refused(index: int, code: ErrorCode) -> PartitionProduceResponse:
    return PartitionProduceResponse(index=index, error_code=code, base_offset=-1)


def _settle(row: PartitionProduceResponse, acknowledged: Deferred[None]) -> None:
    try:
        acknowledged.result()
    except PartitionError as error:
        _fail(row, error.code)


def _fail(row: PartitionProduceResponse, code: ErrorCode) -> None:
    row.error_code, row.base_offset, row.log_append_time_ms, row.log_start_offset = code, -1, -1, -1


def _check_silence(response: ProduceResponse) -> None:
    """Without an answer, a client learns of an error by losing its connection."""
    for topic in response.responses:
        for row in topic.partition_responses:
            if row.error_code:
                name = ErrorCode(row.error_code).name
                raise Disconnect(f"records for {topic.name or topic.topic_id.hex()}-{row.index} with acks 0: {name}")


def _add_leaders(response: ProduceResponse, context: RequestContext) -> None:
    """Tell who leads the partitions that are not led here (KIP-951)."""
    leaders = set()
    for topic in response.responses:
        for row in topic.partition_responses:
            if row.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                leader_id, leader_epoch = leader_of(topic.name, topic.topic_id, row.index, context)
                row.current_leader = LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=leader_epoch)
                leaders.add(leader_id)
    if leaders:
        response.node_endpoints = [
            NodeEndpoint(node_id=node.node_id, host=node.host, port=node.port, rack=node.rack)
            for node in endpoints_of(leaders, context)
        ]
