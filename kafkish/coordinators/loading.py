"""Reading a shard's log from its start to its end, a slice at a time.

Offsets that were committed in a transaction count when its marker says so (KIP-98), unless a newer record of the same
key was written meanwhile, whoever wrote it. What is still undecided at the end of the log is left out.
"""

from collections.abc import Callable, Iterator
from itertools import islice

from kafkish.coordinators.records import RecordKinds, decode_record
from kafkish.coordinators.shard_log import ShardLog
from kafkish_protocol.errors import CodecError
from kafkish_protocol.records import Batch, Record, read_batches
from kafkish_protocol.records.control import ControlType, read_control_type
from kafkish_protocol.schema import CoordinatorKey, CoordinatorValue

Replay = Callable[[CoordinatorKey, CoordinatorValue | None], None]


class LoadError(Exception):
    """The log has something that cannot be read; the message says where."""


class Loading:
    """One pass over a log."""

    def __init__(self, log: ShardLog, kinds: RecordKinds, replay: Replay, buffer_bytes: int) -> None:
        self._log = log
        self._kinds = kinds
        self._replay = replay
        self._buffer_bytes = buffer_bytes
        self._undecided: dict[int, dict[bytes | None, Record]] = {}  # producer id -> key -> its newest record
        self._steps = self._walk()
        self.record_count = 0

    def read_slice(self, max_records: int) -> bool:
        """Take so many records more; whether the end is reached."""
        taken = sum(1 for _ in islice(self._steps, max_records))
        self.record_count += taken
        return taken < max_records

    def _walk(self) -> Iterator[None]:
        """One step for each record."""
        start_offset = offset = self._log.start_offset
        while offset < self._log.end_offset:
            read_from_offset = offset
            for batch in read_batches(self._log.read(offset, self._buffer_bytes)):
                offset = batch.next_offset
                for record in batch.records():
                    if record.offset >= start_offset:
                        self._take(batch, record)
                    yield
            if offset == read_from_offset:
                raise LoadError(f"nothing at offset {offset}, though the log ends at {self._log.end_offset}")

    def _take(self, batch: Batch, record: Record) -> None:
        try:
            if batch.is_control:
                self._end_transaction(batch.producer_id, read_control_type(record))
            elif batch.is_transactional:
                self._undecided.setdefault(batch.producer_id, {})[record.key] = record
            else:
                self._apply(record)
        except CodecError as error:
            raise LoadError(f"the record at offset {record.offset}: {error}") from error

    def _end_transaction(self, producer_id: int, control_type: int) -> None:
        if control_type in (ControlType.ABORT, ControlType.COMMIT):
            records = self._undecided.pop(producer_id, {})
            for record in records.values() if control_type == ControlType.COMMIT else ():
                self._apply(record)

    def _apply(self, record: Record) -> None:
        for records in self._undecided.values():
            if (undecided := records.get(record.key)) and undecided.offset < record.offset:
                del records[record.key]
        decoded = decode_record(self._kinds, record.key, record.value)
        if decoded is not None:
            self._replay(*decoded)
