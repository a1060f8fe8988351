"""Opens a partition's directory as a log, after a clean stop or a crash. Any thread; the log is the caller's then.

After a clean stop the files are believed, except that an index is compared with the log whenever it is used, and what
is missing is derived again. After a crash every segment that is not wholly below the recovery point is read: its
batches are checked, and the log ends before the first that is not whole. What is below the recovery point was durable:
damage there is reported, and nothing is cut.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final

from kafkish_storage.config import LogConfig, ProducerConfig
from kafkish_storage.epoch_check import derive_epochs, epochs_are_true
from kafkish_storage.errors import CorruptLogError
from kafkish_storage.files import Files
from kafkish_storage.handles import Handles
from kafkish_storage.health import Health
from kafkish_storage.home import Home
from kafkish_storage.leader_epochs import LeaderEpochs, read_leader_epochs
from kafkish_storage.log import Log
from kafkish_storage.names import (
    LOG,
    OFFSET_INDEX,
    TIME_INDEX,
    TopicPartition,
    segment_file,
)
from kafkish_storage.producers import ProducerState
from kafkish_storage.producers.files import SnapshotFiles
from kafkish_storage.properties import PARTITION_METADATA, read_topic_id
from kafkish_storage.recovery import recover_unflushed
from kafkish_storage.replay import rebuild_producers
from kafkish_storage.segment import Segment
from kafkish_storage.segments import Segments
from kafkish_storage.tidying import Inventory, tidy

_NO_TOPIC: Final = TopicPartition("", 0)


@dataclass(slots=True)
class LoadOptions:
    """How to open a log. `start_offset` and `recovery_point` are what the checkpoints say.

    `gaps_are_damage`: after a crash, a segment that does not reach the next one has lost its end. False for a compacted
    log that another program wrote: compaction leaves gaps, and only kafkish never compacts above the recovery point.
    """

    now_ms: int
    was_clean: bool = False
    start_offset: int = 0
    recovery_point: int = 0
    gaps_are_damage: bool = True
    producers: ProducerConfig = field(default_factory=ProducerConfig)
    progress: Callable[[int], None] | None = None  # bytes that recovery has read


def load_log(
    files: Files,
    path: str,
    config: LogConfig,
    options: LoadOptions,
    *,
    partition: TopicPartition = _NO_TOPIC,
    health: Health | None = None,
    handles: Handles | None = None,
    dice: Random | None = None,
) -> Log:
    """Open the log in a directory, which must exist. If it has no segment yet, it gets one."""
    home = Home(files, path)
    loader = _Loader(home, config, options)
    log = loader.load(partition, health or Health(path), dice or Random(0))
    if handles is not None:
        home.handles = handles
    return log


class _Loader:
    """The steps, in order."""

    def __init__(self, home: Home, config: LogConfig, options: LoadOptions) -> None:
        self.home = home
        self.config = config
        self.options = options
        self.inventory: Inventory = tidy(home)
        self.is_changed = self.inventory.is_changed
        self.segments = Segments(self._segment(offset) for offset in self.inventory.segments)
        self.snapshots = SnapshotFiles(home, self.inventory.snapshots)
        self.producers = ProducerState(options.producers)
        self.epochs = LeaderEpochs(home, read_leader_epochs(home) or ())

    def _segment(self, offset: int) -> Segment:
        found = self.home.files.stat(self.home / segment_file(offset, LOG))
        assert found is not None
        size, now_ms = found.size_bytes, self.options.now_ms
        return Segment(self.home, offset, self.config, size_bytes=size, created_ms=now_ms)

    def load(self, partition: TopicPartition, health: Health, dice: Random) -> Log:
        options = self.options
        self._drop_before_start()
        self._remove_stray_snapshots()
        self._mend_segments()
        if not options.was_clean and len(self.segments):
            self.is_changed |= recover_unflushed(self)
        end_offset = self._find_end()
        start_offset = max(options.start_offset, self.segments.first.base_offset)
        self.epochs.truncate_end(end_offset)
        self.epochs.truncate_start(start_offset)
        if not epochs_are_true(self.epochs, self.segments, start_offset):
            self.epochs = derive_epochs(self.home, self.segments, start_offset)
        rebuild_producers(self, start_offset, end_offset, options.now_ms)
        self.snapshots.take(self.producers)
        self.segments.active.active = True
        if self.is_changed:  # a log's first segment tells where it starts, for one
            self.home.files.sync_directory(self.home.path)
        log = Log(
            partition, self.home, self.config, self.segments,
            health=health, dice=dice, producers=self.producers, snapshots=self.snapshots, epochs=self.epochs,
            start_offset=start_offset, end_offset=end_offset,
            recovery_point=end_offset if options.was_clean else min(options.recovery_point, end_offset),
            now_ms=options.now_ms,
            topic_id=read_topic_id(self.home.files, self.home.path) if self._has(PARTITION_METADATA) else None,
        )  # fmt: skip
        log.names_changed = not options.was_clean
        log.transactions_changed = self.is_changed or not options.was_clean
        for segment in self.segments:
            segment.sleep()
        return log

    def _has(self, name: str) -> bool:
        return name in self.inventory.others

    def _drop_before_start(self) -> None:
        """Segments that retention was deleting: a crash may have left any of them."""
        for segment in list(self.segments):
            following = self.segments.after(segment)
            if following is not None and following.base_offset <= self.options.start_offset:
                self.segments.remove(segment)
                segment.remove_files()
                self.snapshots.remove(segment.base_offset)
                self.is_changed = True

    def _remove_stray_snapshots(self) -> None:
        """Keep those where a segment starts, and the last if it is after all of them."""
        bases = {segment.base_offset for segment in self.segments}
        last = self.snapshots.latest if self.snapshots.latest > max(bases, default=-1) else None
        for offset in list(self.snapshots.offsets):
            if offset not in bases and offset != last:
                self.snapshots.remove(offset)

    def _mend_segments(self) -> None:
        """Derive what is missing of the segments that are not recovered anyway."""
        for segment in self._believed():
            kinds = self.inventory.segments[segment.base_offset]
            if not kinds.issuperset((OFFSET_INDEX, TIME_INDEX)):
                segment.rebuild_indexes()
                self.is_changed = True

    def _believed(self) -> list[Segment]:
        if self.options.was_clean or not len(self.segments):
            return list(self.segments)
        return self.segments.before(self.segments.floor(self.options.recovery_point).base_offset)

    def _find_end(self) -> int:
        """Where the log ends; a log that ends before it starts is dropped, and one without segments gets one."""
        start_offset = self.options.start_offset
        end_offset = self.segments.active.next_offset() if len(self.segments) else start_offset
        if start_offset <= end_offset < self.options.recovery_point:
            self._report_loss(end_offset)
        if end_offset < start_offset or not len(self.segments):
            for segment in list(self.segments):
                self.segments.remove(segment)
                segment.remove_files()
            self.segments.add(Segment.create(self.home, start_offset, self.config, now_ms=self.options.now_ms))
            self.is_changed = True
            return start_offset
        return end_offset

    def _report_loss(self, end_offset: int) -> None:
        path, size = (self.segments.active.path, self.segments.active.size_bytes) if len(self.segments) else ("", 0)
        reason = f"the log ends at offset {end_offset}, and was durable up to {self.options.recovery_point}"
        raise CorruptLogError(path or self.home.path, size, reason)
