"""What a running Apache Kafka has in its metadata log, as an image of ours."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from kafkish.metadata.image import MetadataImage, Provenance
from kafkish.metadata.loader import MetadataLoader
from kafkish.metadata.records import decode_record
from kafkish_protocol.records import Batch, CorruptBatchError, read_batches
from kafkish_protocol.schema import MetadataRecord


def records_of(batch: Batch) -> list[MetadataRecord]:
    return [decode_record(record.value or b"")[0] for record in batch.records()]


def read_batches_so_far(data: bytes) -> Iterator[Batch]:
    """The batches of a file that someone may be writing to."""
    try:
        yield from read_batches(data)
    except CorruptBatchError:
        return  # the last one is not all there yet


def load_log(directory: Path, up_to: int = 2**63) -> MetadataImage:
    """Replay `__cluster_metadata-0` from its beginning up to an offset."""
    loader = MetadataLoader()
    for segment in sorted(directory.glob("*.log")):
        for batch in read_batches_so_far(segment.read_bytes()):
            if not batch.is_control and batch.last_offset <= up_to:
                place = {"base_offset": batch.base_offset, "epoch": batch.leader_epoch}
                loader.load_batch(records_of(batch), timestamp_ms=batch.max_timestamp, **place)
    return loader.image


class LogFollower:
    """Reads on where it stopped, in a log of one segment."""

    def __init__(self, directory: Path) -> None:
        self._file = (directory / f"{0:020}.log").open("rb")
        self._loader = MetadataLoader()
        self._position = 0

    @property
    def image(self) -> MetadataImage:
        return self._loader.image

    def catch_up(self) -> list[tuple[MetadataRecord, int]]:
        """Replay what is new; return it with the versions in which Kafka wrote it."""
        self._file.seek(self._position)
        found = []
        for batch in read_batches_so_far(self._file.read()):
            self._position += batch.size_bytes
            if not batch.is_control:
                new = [decode_record(record.value or b"") for record in batch.records()]
                records = [record for record, _ in new]
                self._loader.load_batch(
                    records, base_offset=batch.base_offset, epoch=batch.leader_epoch, timestamp_ms=batch.max_timestamp
                )
                found += new
        return found


def snapshots(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.checkpoint"))[1:]  # the first is there from the start and holds no metadata


def load_snapshot(path: Path) -> MetadataImage:
    """Replay a snapshot; its name says where it ends."""
    end_offset, epoch = (int(part) for part in path.stem.split("-"))
    batches = [batch for batch in read_batches_so_far(path.read_bytes()) if not batch.is_control]
    records = [record for batch in batches for record in records_of(batch)]
    return MetadataLoader().load_snapshot(records, Provenance(end_offset - 1, epoch, -1)).after


def wait_for(directory: Path, ready: Callable[[MetadataImage], bool], timeout_s: float = 30) -> MetadataImage:
    """The image as soon as it is as wanted: Kafka answers before it has written all that follows."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        image = load_log(directory)
        if ready(image):
            return image
        time.sleep(0.05)
    raise AssertionError(f"Kafka's metadata did not become as expected up to offset {image.provenance.offset}")
