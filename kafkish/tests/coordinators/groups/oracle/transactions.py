"""Offsets committed in a transaction of Apache Kafka, request by request."""

from typing import Any

from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafkish_protocol.messages.end_txn import EndTxnRequest
from kafkish_protocol.messages.find_coordinator import FindCoordinatorRequest
from kafkish_protocol.messages.init_producer_id import InitProducerIdRequest
from kafkish_protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkish_protocol.schema import Request
from kafkish_protocol.tests.raw_client import RawClient

_PATIENCE = 2_000
_NOT_YET = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
}


class Transaction:
    """One transaction of a producer of its own."""

    def __init__(self, port: int, transactional_id: str) -> None:
        self._client = RawClient(port)
        self._id = transactional_id
        find = FindCoordinatorRequest(key_type=1, coordinator_keys=[transactional_id])
        self._ask(find, 4, lambda response: response.coordinators[0].error_code)
        started = self._ask(InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=60_000), 4)
        self._producer = {"producer_id": started.producer_id, "producer_epoch": started.producer_epoch}

    def __enter__(self) -> "Transaction":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.socket.close()

    def commit_offset(self, group: str, place: tuple[str, int], offset: int) -> None:
        """One more offset."""
        self._ask(AddOffsetsToTxnRequest(transactional_id=self._id, group_id=group, **self._producer), 3)
        partition = TxnOffsetCommitRequestPartition(
            partition_index=place[1], committed_offset=offset, committed_metadata=""
        )
        topics = [TxnOffsetCommitRequestTopic(name=place[0], partitions=[partition])]
        request = TxnOffsetCommitRequest(transactional_id=self._id, group_id=group, topics=topics, **self._producer)
        self._ask(request, 3, lambda response: response.topics[0].partitions[0].error_code)

    def end(self, *, commit: bool) -> None:
        """Commit or abort, and wait until all markers are written: then the next transaction may begin."""
        self._ask(EndTxnRequest(transactional_id=self._id, committed=commit, **self._producer), 3)
        self._ask(InitProducerIdRequest(transactional_id=self._id, transaction_timeout_ms=60_000), 4)

    def _ask(self, request: Request, version: int, error_of: Any = lambda response: response.error_code) -> Any:
        """The answer, once it is no more 'not yet'."""
        for _ in range(_PATIENCE):
            response = self._client.send(request, version)
            if error_of(response) not in _NOT_YET:
                break
        assert error_of(response) == ErrorCode.NONE, response
        return response
