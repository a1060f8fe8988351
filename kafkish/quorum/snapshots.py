"""Snapshots on disk: `<end offset>-<epoch>.checkpoint`, in Kafka's format (KIP-630).

    control batch     snapshot header; kraft.version and voters, if the log has them
    data batches      metadata records
    control batch     snapshot footer

A snapshot is written as `.checkpoint.part`, synced, and then renamed: whatever has the full name is whole.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kafkish.quorum.control import control_batch, read_controls, snapshot_footer, snapshot_header, to_stored
from kafkish_protocol.records import Batch, ControlType, Record, build_batch, read_batches, read_control_type
from kafkish_protocol.records.errors import CorruptBatchError, InvalidRecordError
from kafkish_protocol.stored.snapshot import SnapshotHeaderRecord
from kafkish_raft.ports import OffsetAndEpoch
from kafkish_raft.voters import Control, KRaftVersion, Voters, VoterSet
from kafkish_storage import Files
from kafkish_storage.errors import CorruptFileError
from kafkish_storage.files import File

SUFFIX: Final = ".checkpoint"
PART: Final = ".part"
DELETED: Final = ".deleted"

_NAME: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint(\.part|\.deleted)?")
_REMEDY: Final = "Restore it from a backup; or, if other voters have the metadata, let this node fetch it again"


def snapshot_name(snapshot_id: OffsetAndEpoch) -> str:
    return f"{snapshot_id.offset:020d}-{snapshot_id.epoch:010d}{SUFFIX}"


class Snapshot:
    """A snapshot that was read: checked batches, without what belongs to the format."""

    def __init__(self, path: str, data: bytes) -> None:
        self._path = path
        self.batches = self._checked(data)
        controls = [batch for batch in self.batches if batch.is_control]
        kinds = [read_control_type(record) for batch in controls for record in batch.records()]
        if ControlType.SNAPSHOT_HEADER not in kinds[:1] or ControlType.SNAPSHOT_FOOTER not in kinds[-1:]:
            raise CorruptFileError(path, "the snapshot has no header or no footer", _REMEDY)

    def _checked(self, data: bytes) -> list[Batch]:
        try:
            batches = list(read_batches(data))
        except (CorruptBatchError, InvalidRecordError) as error:
            raise CorruptFileError(self._path, f"not a whole snapshot ({error})", _REMEDY) from error
        if not batches or not batches[0].is_control or not batches[-1].is_control:
            raise CorruptFileError(self._path, "the snapshot has no header or no footer", _REMEDY)
        if not all(batch.crc_is_valid() for batch in batches):
            raise CorruptFileError(self._path, "a checksum is wrong", _REMEDY)
        return batches

    def values(self) -> Iterator[bytes]:
        """The metadata records, as bytes."""
        return (record.value or b"" for batch in self.batches if not batch.is_control for record in batch.records())

    def controls(self, at_offset: int) -> list[Control]:
        """The kraft.version and the voters, as if they stood at one offset."""
        found = [list(read_controls(batch, at_offset)) for batch in self.batches if batch.is_control]
        return [control for controls in found for control in controls]

    @property
    def last_timestamp_ms(self) -> int:
        """The time of the last record of the log that it contains."""
        header = next(self.batches[0].records())
        return SnapshotHeaderRecord.decode(header.value or b"", 0).last_contained_log_timestamp


class SnapshotFiles:
    """The snapshots of a metadata directory, in the order of their offsets. Owner's thread."""

    def __init__(self, files: Files, directory: str) -> None:
        self._files = files
        self._directory = directory
        self.sizes: dict[OffsetAndEpoch, int] = {}
        for entry in files.entries(directory):
            found = _NAME.fullmatch(entry.name)
            if found is None:
                continue
            path = f"{directory}/{entry.name}"
            if found[3]:
                files.remove(path)
            else:
                self.add(OffsetAndEpoch(int(found[1]), int(found[2])))

    @property
    def ids(self) -> list[OffsetAndEpoch]:
        return list(self.sizes)

    def path(self, snapshot_id: OffsetAndEpoch) -> str:
        return f"{self._directory}/{snapshot_name(snapshot_id)}"

    def add(self, snapshot_id: OffsetAndEpoch) -> None:
        """Take note of a file that got its full name."""
        found = self._files.stat(self.path(snapshot_id))
        assert found is not None, "the snapshot exists"
        self.sizes = dict(sorted({**self.sizes, snapshot_id: found.size_bytes}.items()))

    def read(self, snapshot_id: OffsetAndEpoch) -> Snapshot:
        """All of it, checked."""
        path = self.path(snapshot_id)
        data = self._files.read(path)
        assert data is not None, "the snapshot exists"
        return Snapshot(path, data)

    def read_bytes(self, snapshot_id: OffsetAndEpoch, position: int, max_bytes: int) -> bytes:
        """A piece, for a node that fetches it."""
        return self._files.open(self.path(snapshot_id)).read(position, max_bytes)

    def forget(self, snapshot_ids: Iterable[OffsetAndEpoch]) -> list[OffsetAndEpoch]:
        """Let nobody find these any more; `remove` then deletes their files."""
        doomed = list(snapshot_ids)
        for snapshot_id in doomed:
            del self.sizes[snapshot_id]
        return doomed

    def remove(self, snapshot_ids: Iterable[OffsetAndEpoch]) -> None:
        """Delete files, durably. Any thread."""
        for snapshot_id in snapshot_ids:
            self._files.remove(self.path(snapshot_id))
        self._files.sync_directory(self._directory)

    def remove_before(self, offset: int) -> None:
        """Remove snapshots that end before an offset, durably."""
        doomed = self.forget([snapshot_id for snapshot_id in self.sizes if snapshot_id.offset < offset])
        if doomed:
            self.remove(doomed)


class SnapshotWriter:
    """Writes one snapshot. Any thread, one at a time."""

    def __init__(self, files: Files, path: str) -> None:
        self._files = files
        self._path = path
        self._position = 0
        self._offset = 0
        files.remove(path + PART)
        self._file: File = files.open(path + PART, create=True)

    def write_header(
        self, snapshot_id: OffsetAndEpoch, version: int, voters: VoterSet | None, *, last_ms: int, now_ms: int
    ) -> None:
        """Begin: the kraft.version and the voters stand before all metadata."""
        self._epoch = snapshot_id.epoch
        records = [snapshot_header(last_ms)]
        if voters is not None:
            records += [to_stored(KRaftVersion(version)), to_stored(Voters(voters))]
        self._write(control_batch(records, timestamp_ms=now_ms, epoch=self._epoch), len(records))

    def write_records(self, values: Sequence[bytes], now_ms: int) -> None:
        """One batch."""
        records = [Record(offset, now_ms, None, value) for offset, value in enumerate(values, self._offset)]
        self._write(build_batch(records, leader_epoch=self._epoch), len(records))

    def finish(self, now_ms: int) -> None:
        """End, sync, and give it its full name."""
        footer = control_batch([snapshot_footer()], timestamp_ms=now_ms, base_offset=self._offset, epoch=self._epoch)
        self._write(footer, 1)
        self._file.sync()
        self._file.close()
        self._files.rename(self._path + PART, self._path)
        self._files.sync_directory(self._path.rpartition("/")[0])

    def _write(self, batch: bytearray, records: int) -> None:
        self._file.write(self._position, [batch], len(batch))
        self._position += len(batch)
        self._offset += records


def write_snapshot(
    files: Files,
    path: str,
    snapshot_id: OffsetAndEpoch,
    values: Iterable[bytes],
    *,
    now_ms: int,
    last_ms: int = 0,
    voters: VoterSet | None = None,
) -> None:
    """A small snapshot at once."""
    writer = SnapshotWriter(files, path)
    writer.write_header(snapshot_id, 1, voters, last_ms=last_ms, now_ms=now_ms)
    records = list(values)
    if records:
        writer.write_records(records, now_ms)
    writer.finish(now_ms)
