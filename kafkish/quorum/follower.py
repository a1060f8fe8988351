"""Committed records become images, and whoever listens is told of each, in order.

The first image is told when this node knows what is committed and has replayed all of it: nobody sees what the cluster
was like long ago. Long replays yield to others between slices.
"""

from collections.abc import Callable, Iterator
from itertools import groupby, islice
from typing import Final

from kafkish.metadata.changes import Update, difference
from kafkish.metadata.image import EMPTY, MetadataImage, Provenance
from kafkish.metadata.loader import MetadataLoader
from kafkish.metadata.records import decode_record
from kafkish.quorum.metadata_log import MetadataLog
from kafkish.quorum.telling import tell
from kafkish.timers import Timers
from kafkish_protocol.records import Batch
from kafkish_protocol.schema import MetadataRecord
from kafkish_raft.ports import OffsetAndEpoch

_READ_BYTES: Final = 32 * 1024  # some milliseconds of replay; a batch may be larger, and is cut
_SLICE_RECORDS: Final = 2_000


class MetadataFollower:
    """Replays the log up to what is committed."""

    def __init__(self, log: MetadataLog, timers: Timers) -> None:
        self._log = log
        self._timers = timers
        self._loader = MetadataLoader()
        self._committed_offset = 0
        self._is_busy = False  # in a slice, or between two
        self._slices: Iterator[None] | None = None  # what is left of the last read
        self._listeners: list[Callable[[Update], object]] = []
        self._is_public = False
        self.applied_offset = 0
        """All records below are in the image, or wait in an open transaction."""
        self.bytes_since_snapshot = 0
        self.on_applied: list[Callable[[int], object]] = []
        """Told of `applied_offset` after the listeners have seen the image."""
        self.knows_committed: Callable[[], bool] = lambda: False
        """Whether the leader has told this node, in this life of it, how far the log is committed."""
        self.on_failure: Callable[[Exception], object] = lambda _error: None

    @property
    def image(self) -> MetadataImage:
        """What is committed, as far as it was replayed."""
        return self._loader.image

    @property
    def transaction_offset(self) -> int | None:
        """Where a metadata transaction began that has not ended."""
        return self._loader.transaction_offset

    @property
    def is_public(self) -> bool:
        """Whether the first image was told."""
        return self._is_public

    def subscribe(self, listener: Callable[[Update], object]) -> None:
        """Tell of every update from now on; of all that is known so far, at once."""
        self._listeners.append(listener)
        if self._is_public:
            tell(listener, Update(EMPTY, self.image, difference(EMPTY, self.image)))

    def publish_first(self) -> None:
        """Once: when what was replayed is all that was committed when this node came back."""
        is_replayed = self.applied_offset >= self._committed_offset and self.image.features.metadata_version is not None
        if not self._is_public and is_replayed and self.knows_committed():
            self._is_public = True
            self._publish(Update(EMPTY, self.image, difference(EMPTY, self.image)))

    def advance(self, committed_offset: int) -> None:
        """More is committed: replay it, at once or in slices."""
        self._committed_offset = committed_offset
        if not self._is_busy:
            self.replay()

    def _resume(self) -> None:
        try:
            self.replay()
        except Exception as error:  # whatever it is, this node can not go on without the rest
            self.on_failure(error)

    def replay(self) -> None:
        """One slice. Whoever is told of it may make more to be committed; that waits for the next."""
        self._is_busy = True
        if self._slices is None:
            self._slices = self._replay_next()
        if next(self._slices, self) is self:
            self._slices = None
        self._is_busy = self._slices is not None or self.applied_offset < self._committed_offset
        if self._is_busy:
            self._timers.call_later(0, self._resume)

    def _replay_next(self) -> Iterator[None]:
        """A snapshot, or what is read at once. Between two slices others have the loop."""
        latest = self._log.latest_snapshot
        is_behind = self.applied_offset == 0 or self.applied_offset < self._log.start_offset
        if latest is not None and is_behind and self.applied_offset < latest.offset:
            self._load_snapshot(latest)
        if self.applied_offset < self._committed_offset:
            batches = self._log.read(self.applied_offset, self._committed_offset, _READ_BYTES)
            for (is_control, _), run in groupby(batches, lambda batch: (batch.is_control, batch.leader_epoch)):
                yield from self._load_run(list(run), is_control=is_control)
        self.publish_first()
        for told in list(self.on_applied):
            told(self.applied_offset)

    def _load_snapshot(self, snapshot_id: OffsetAndEpoch) -> None:
        snapshot = self._log.snapshots.read(snapshot_id)
        records = (decode_record(value)[0] for value in snapshot.values())
        provenance = Provenance(snapshot_id.offset - 1, snapshot_id.epoch, snapshot.last_timestamp_ms)
        self._publish(self._loader.load_snapshot(records, provenance))
        self.applied_offset = snapshot_id.offset
        self.bytes_since_snapshot = 0

    def _load_run(self, batches: list[Batch], *, is_control: bool) -> Iterator[None]:
        """Batches that follow one another in an epoch become one image: each image costs a copy of what changes."""
        last = batches[-1]
        if not is_control:
            records = (record for batch in batches for record in records_of(batch))
            place = {"epoch": last.leader_epoch, "timestamp_ms": last.max_timestamp}
            offset = batches[0].base_offset
            while part := list(islice(records, _SLICE_RECORDS)):
                self._publish(*self._loader.load_part(part, base_offset=offset, **place))
                offset += len(part)
                if len(part) == _SLICE_RECORDS:
                    yield
            self._publish(*self._loader.end_batch())
        self.applied_offset = last.next_offset
        self.bytes_since_snapshot += sum(batch.size_bytes for batch in batches)

    def _publish(self, *updates: Update) -> None:
        for update in updates:
            for listener in self._listeners if self._is_public else ():
                tell(listener, update)


def records_of(batch: Batch) -> Iterator[MetadataRecord]:
    """The metadata records of a batch, decoded one by one."""
    return (decode_record(record.value or b"")[0] for record in batch.records())
