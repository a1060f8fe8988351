"""Which batches and records a compaction keeps, as Kafka decides it. Any thread.

* A record stays if no later one has its key. One without a key goes.
* A tombstone stays until `delete.retention.ms` after a compaction has first found it last; that time, the delete
  horizon, is written into its batch (KIP-534). So with a marker of a transaction of which nothing is left.
* Batches of aborted transactions go.
* A batch stays, if need be without records, where its header is still needed: it is the last of an active producer, or
  the last of what becomes one segment, which tells where that segment ends.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from kafkish_protocol.records import Batch, RecordSpan, build_batch, read_spans, thin_batch
from kafkish_storage.compaction.offset_map import OffsetMap
from kafkish_storage.compaction.transactions import TransactionsSeen

UNPACKED_BYTES: Final = 256 * 1024 * 1024


class LastOfProducer(NamedTuple):
    """What must stay of an active producer: the batch that ends with this offset; or, if -1, its epoch's marker."""

    last_data_offset: int
    epoch: int


@dataclass(slots=True)
class Filter:
    """Decides for one batch after the other, in the order of the log."""

    offsets: OffsetMap
    transactions: TransactionsSeen
    producers: Mapping[int, LastOfProducer]
    delete_retention_ms: int
    now_ms: int

    def apply(self, batch: Batch, *, is_last: bool) -> memoryview | bytearray | None:
        """What stays of a batch: itself, a thinner one, or nothing."""
        is_control = batch.is_control
        needless = self.transactions.is_needless(batch) if is_control else self.transactions.is_aborted(batch)
        drop_all = needless and (not is_control or self._is_past_horizon(batch))
        must_stay = is_last or self._is_needed_by_producer(batch)
        if drop_all:
            return thin_batch(batch, b"", []) if must_stay else None
        block = batch.block(UNPACKED_BYTES)
        spans = list(read_spans(batch, block))
        kept = spans if is_control else [span for span in spans if self._keeps(batch, span)]
        if not kept:
            return thin_batch(batch, b"", []) if must_stay else None
        has_tombstone = any(not span.has_value for span in kept)
        if batch.delete_horizon_ms is None and (has_tombstone or (is_control and needless)):
            return self._with_horizon(batch, {span.offset_delta for span in kept})
        return batch.view if len(kept) == len(spans) else thin_batch(batch, block, kept)

    def _is_past_horizon(self, batch: Batch) -> bool:
        return batch.delete_horizon_ms is not None and batch.delete_horizon_ms <= self.now_ms

    def _is_needed_by_producer(self, batch: Batch) -> bool:
        last = self.producers.get(batch.producer_id)
        if last is None:
            return False
        if last.last_data_offset >= 0:
            return batch.last_offset == last.last_data_offset
        return batch.is_control and batch.producer_epoch == last.epoch

    def _keeps(self, batch: Batch, span: RecordSpan) -> bool:
        offset = batch.base_offset + span.offset_delta
        if offset > self.offsets.latest_offset:
            return True
        if span.key is None or offset < self.offsets.get(span.key):
            return False
        return span.has_value or not self._is_past_horizon(batch)

    def _with_horizon(self, batch: Batch, kept: set[int]) -> bytearray:
        """The records again, with the time at which tombstones and marker may go."""
        records = [record for record in batch.records(UNPACKED_BYTES) if record.offset - batch.base_offset in kept]
        return build_batch(
            records,
            base_offset=batch.base_offset,
            last_offset=batch.last_offset,
            leader_epoch=batch.leader_epoch,
            compression=batch.compression,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            base_sequence=batch.base_sequence,
            transactional=batch.is_transactional,
            control=batch.is_control,
            log_append_time_ms=batch.max_timestamp if batch.has_log_append_time else None,
            delete_horizon_ms=self.now_ms + self.delete_retention_ms,
        )
