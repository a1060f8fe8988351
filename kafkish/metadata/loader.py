"""Batches and snapshots of the metadata log in, images out.

A metadata transaction (KIP-868) holds back what a controller writes in several batches until all of it is there:

    begin ... records ... end      the records take effect together, when `end` is loaded
    begin ... records ... abort    they never do

Within a transaction a loader gives out nothing, and its image stays where it was before `begin`. A record outside a
transaction takes effect with its batch.
"""

from collections.abc import Iterable, Sequence

from kafkish.metadata.changes import Update, difference
from kafkish.metadata.delta import MetadataDelta, ReplayError
from kafkish.metadata.image import EMPTY, MetadataImage, Provenance
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_transactions import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)


class MetadataLoader:
    """Follows the metadata log."""

    def __init__(self, image: MetadataImage = EMPTY) -> None:
        self.image = image
        """What has taken effect so far."""
        self.transaction_offset: int | None = None
        """Where the open transaction began; a new controller that finds one has to abort it."""
        self._delta = MetadataDelta(image)
        self._loaded = image.provenance

    def load_batch(
        self, records: Sequence[MetadataRecord], *, base_offset: int, epoch: int, timestamp_ms: int
    ) -> list[Update]:
        """Take in a committed batch: mostly one update, none in a transaction, two when one begins in mid batch."""
        updates = self.load_part(records, base_offset=base_offset, epoch=epoch, timestamp_ms=timestamp_ms)
        return updates + self.end_batch()

    def load_part(
        self, records: Iterable[MetadataRecord], *, base_offset: int, epoch: int, timestamp_ms: int
    ) -> list[Update]:
        """Take in some records of a batch. They take effect at its end; an update is only what came before them."""
        updates: list[Update] = []
        for offset, record in enumerate(records, base_offset):
            if isinstance(record, BeginTransactionRecord):
                updates += self._begin(offset)
            elif isinstance(record, EndTransactionRecord):
                self._leave_transaction(record)
            elif isinstance(record, AbortTransactionRecord):
                self._leave_transaction(record)
                self._delta = MetadataDelta(self.image)
            else:
                self._delta.replay(record, offset)
            self._loaded = Provenance(offset, epoch, timestamp_ms)
        return updates

    def end_batch(self) -> list[Update]:
        """What the batch has come to, unless it is part of a transaction that goes on."""
        return self._publish() if self.transaction_offset is None else []

    def load_snapshot(self, records: Iterable[MetadataRecord], provenance: Provenance) -> Update:
        """Replace everything by a snapshot, which ends with the record that `provenance` names."""
        delta = MetadataDelta(EMPTY)
        for record in records:
            delta.replay(record, provenance.offset)
        before, after = self.image, delta.apply(provenance).after
        self._restart_from(after)
        return Update(before, after, difference(before, after))

    def _begin(self, offset: int) -> list[Update]:
        if self.transaction_offset is not None:
            raise ReplayError(f"a transaction begins at offset {offset} inside the one from {self.transaction_offset}")
        updates = self._publish()
        self.transaction_offset = offset
        return updates

    def _leave_transaction(self, record: MetadataRecord) -> None:
        if self.transaction_offset is None:
            raise ReplayError(f"{record.schema.name} outside of a transaction")
        self.transaction_offset = None

    def _publish(self) -> list[Update]:
        """The update up to the last record, if there was one since the last update."""
        if self._loaded == self.image.provenance:
            return []
        update = self._delta.apply(self._loaded)
        self._restart_from(update.after)
        return [update]

    def _restart_from(self, image: MetadataImage) -> None:
        self.image, self._loaded, self.transaction_offset = image, image.provenance, None
        self._delta = MetadataDelta(image)
