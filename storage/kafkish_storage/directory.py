"""One data directory: whose it is, what it holds, and the checkpoints of its logs.

Owner's thread, except where a method says otherwise. Jobs are made and finished on the owner's thread and run on any.
"""

from collections.abc import Iterable
from contextlib import suppress
from threading import Lock as ThreadLock
from typing import Final, NamedTuple

from kafkish_storage import checkpoint
from kafkish_storage.errors import DirectoryInUseError, UnwritableDirectoryError, WrongDirectoryError
from kafkish_storage.files import Files, Lock
from kafkish_storage.health import Health
from kafkish_storage.log import Log
from kafkish_storage.names import TopicPartition
from kafkish_storage.properties import MetaProperties, read_meta_properties, write_clean_shutdown

LOCK: Final = ".lock"
IN_USE: Final = ".kafkish_in_use"  # there while kafkish has the directory, and after it has crashed


class CheckpointFile:
    """A checkpoint that several threads write: what was taken later is never overwritten by what was taken earlier."""

    def __init__(self, files: Files, path: str) -> None:
        self._files = files
        self._path = path
        self._lock = ThreadLock()
        self._taken = 0
        self._written = 0

    def read(self) -> dict[TopicPartition, int]:
        return checkpoint.read_offsets(self._files, self._path)

    def take_number(self) -> int:
        """Owner's thread, when the offsets are read from the logs."""
        self._taken += 1
        return self._taken

    def write(self, number: int, offsets: dict[TopicPartition, int]) -> None:
        """Any thread."""
        with self._lock:
            if number > self._written:
                checkpoint.write_offsets(self._files, self._path, offsets)
                self._written = number


class Checkpoints(NamedTuple):
    """Offsets of each partition."""

    recovery_points: dict[TopicPartition, int]
    log_starts: dict[TopicPartition, int]
    high_watermarks: dict[TopicPartition, int]


class LogDirectory:
    """A directory that this process has locked. `logs` are its partitions; `future` those that are moving here."""

    def __init__(self, files: Files, path: str, health: Health, lock: Lock, properties: MetaProperties | None) -> None:
        self.files = files
        self.path = path
        self.health = health
        self.properties = properties
        self.logs: dict[TopicPartition, Log] = {}
        self.future: dict[TopicPartition, Log] = {}
        self.broken: dict[TopicPartition, Exception] = {}  # partitions that could not be loaded
        self.doomed: list[tuple[int, str]] = []  # directories to be removed, and when
        self.cleaned: dict[TopicPartition, int] = {}  # up to where logs have been compacted
        self.known: set[TopicPartition] = set()  # whose offsets the checkpoints on disk may have
        self.was_clean = False
        self.previous_broker_epoch: int | None = None
        self._lock = lock
        self._recovery_points = CheckpointFile(files, f"{path}/{checkpoint.RECOVERY_POINTS}")
        self._log_starts = CheckpointFile(files, f"{path}/{checkpoint.LOG_STARTS}")
        self._high_watermarks = CheckpointFile(files, f"{path}/{checkpoint.HIGH_WATERMARKS}")
        self._cleaned_offsets = CheckpointFile(files, f"{path}/{checkpoint.CLEANED_OFFSETS}")

    @property
    def directory_id(self) -> str | None:
        return self.properties.directory_id if self.properties else None

    def add(self, log: Log, *, future: bool = False) -> None:
        log.on_cut = self._note_cut
        (self.future if future else self.logs)[log.partition] = log
        self.known.add(log.partition)

    # -- checkpoints

    def read_checkpoints(self) -> Checkpoints:
        """What was written last."""
        self.cleaned = self._cleaned_offsets.read()
        found = Checkpoints(self._recovery_points.read(), self._log_starts.read(), self._high_watermarks.read())
        self.known.update(self.cleaned, *found)
        return found

    def checkpoint_all(self) -> "list[CheckpointJob]":
        return [
            self.checkpoint_recovery_points(),
            self.checkpoint_log_starts(),
            self.checkpoint_high_watermarks(),
            self.checkpoint_cleaned_offsets(),
        ]

    def forget(self, partitions: Iterable[TopicPartition]) -> "list[CheckpointJob]":
        """To be run before a log comes that has a name which another had: that one's offsets are not its own."""
        return self.checkpoint_all() if any(one in self.known and one not in self.logs for one in partitions) else []

    def checkpoint_recovery_points(self) -> "CheckpointJob":
        offsets = {partition: log.recovery_point for partition, log in self.logs.items()}
        return CheckpointJob(self, self._recovery_points, offsets, list(self.logs.values()))

    def checkpoint_log_starts(self) -> "CheckpointJob":
        return CheckpointJob(self, self._log_starts, self._starts())

    def _starts(self) -> dict[TopicPartition, int]:
        """Of logs that start within a segment, or whose segments before the start may come back after a crash."""
        return {
            partition: log.start_offset
            for partition, log in self.logs.items()
            if log.start_offset > log.segments.first.base_offset or (log.names_changed and log.start_offset > 0)
        }

    def checkpoint_high_watermarks(self) -> "CheckpointJob":
        offsets = {partition: log.high_watermark for partition, log in self.logs.items()}
        return CheckpointJob(self, self._high_watermarks, offsets)

    def checkpoint_cleaned_offsets(self) -> "CheckpointJob":
        self.cleaned = {partition: offset for partition, offset in self.cleaned.items() if partition in self.logs}
        return CheckpointJob(self, self._cleaned_offsets, dict(self.cleaned))

    def _note_cut(self, log: Log, offset: int) -> None:
        """A log is about to lose durable batches, or to start earlier: say so first. It blocks, and it is rare."""
        offsets = {partition: other.recovery_point for partition, other in self.logs.items()}
        offsets[log.partition] = min(log.recovery_point, offset)
        self._recovery_points.write(self._recovery_points.take_number(), offsets)
        if offset < log.start_offset:
            self._log_starts.write(self._log_starts.take_number(), self._starts() | {log.partition: offset})
        if self.cleaned.get(log.partition, 0) > offset:
            self.cleaned[log.partition] = offset
            self._cleaned_offsets.write(self._cleaned_offsets.take_number(), dict(self.cleaned))

    # -- deleting

    def remove_garbage(self, now_ms: int) -> "RemovalJob":
        """The files and directories whose time has come."""
        paths = []
        for log in (*self.logs.values(), *self.future.values()):
            paths += [path for due_ms, path in log.garbage if due_ms <= now_ms]
            log.garbage = [entry for entry in log.garbage if entry[0] > now_ms]
        doomed = [path for due_ms, path in self.doomed if due_ms <= now_ms]
        self.doomed = [entry for entry in self.doomed if entry[0] > now_ms]
        return RemovalJob(self, paths, doomed)

    # -- ending

    def close(self, broker_epoch: int) -> None:
        """Close all logs; if all went well, say that it did. Any thread, when nobody else uses the directory."""
        try:
            if self.health.failure is None:
                self._close(broker_epoch)
        finally:
            self._lock.release()

    def _close(self, broker_epoch: int) -> None:
        for log in (*self.logs.values(), *self.future.values()):
            log.close()
        for job in self.checkpoint_all():
            job.run()
        if not self.broken:  # or the next start would believe logs that nobody has checked
            try:
                self.files.remove(f"{self.path}/{IN_USE}")
                write_clean_shutdown(self.files, self.path, broker_epoch)
            except OSError as error:
                raise self.health.failed(error, "while noting the clean stop") from error

    def abandon(self) -> None:
        """Let go of the directory as a crash would."""
        self._lock.release()


class CheckpointJob:
    """Writes one checkpoint file."""

    def __init__(
        self,
        directory: LogDirectory,
        file: CheckpointFile,
        offsets: dict[TopicPartition, int],
        recovered: Iterable[Log] = (),
    ) -> None:
        directory.health.check()
        self._directory = directory
        self._file = file
        self._offsets = offsets
        self._number = file.take_number()
        self._logs = [(log, log.generation) for log in recovered]

    def run(self) -> None:
        """Any thread."""
        try:
            self._file.write(self._number, self._offsets)
        except OSError as error:
            raise self._directory.health.failed(error, "while writing a checkpoint") from error

    def finish(self) -> None:
        for log, generation in self._logs:
            if log.generation == generation:
                log.checkpointed_recovery_point = max(log.checkpointed_recovery_point, self._offsets[log.partition])


class RemovalJob:
    """Removes files that nobody may read any more."""

    def __init__(self, directory: LogDirectory, paths: list[str], doomed: list[str]) -> None:
        self._directory = directory
        self._paths = paths
        self._doomed = doomed

    def run(self) -> None:
        """Any thread."""
        files = self._directory.files
        try:
            for path in self._paths:
                if files.stat(path) is not None:  # its directory may have got another name
                    files.remove(path)
            for path in self._doomed:
                self._remove_directory(path)
        except OSError as error:
            raise self._directory.health.failed(error, "while removing deleted files") from error

    def _remove_directory(self, path: str) -> None:
        files = self._directory.files
        with suppress(FileNotFoundError):  # somebody else has removed it
            for entry in files.entries(path):
                files.remove(f"{path}/{entry.name}")
            files.remove_directory(path)


def lock_directory(files: Files, path: str) -> Lock:
    """Take the directory for this process."""
    try:
        _make_directory(files, path)
        lock = files.lock(f"{path}/{LOCK}")
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnwritableDirectoryError(
            f"cannot write to the data directory {path}: {reason}. Let the broker's user write there, or name another"
        ) from error
    if lock is None:
        raise DirectoryInUseError(
            f"{path}/{LOCK} is locked: another broker is using this data directory. Stop it, or name another directory"
        )
    return lock


def _make_directory(files: Files, path: str) -> None:
    """Make a directory, so that a crash does not take it with all that is in it."""
    missing, above = [], path
    while above not in ("", ".", "/") and files.stat(above) is None:
        above = above.rpartition("/")[0] or ("/" if path.startswith("/") else ".")
        missing.append(above)
    files.make_directory(path)
    for parent in missing:
        files.sync_directory(parent)


def check_properties(files: Files, path: str, cluster_id: str | None, node_id: int | None) -> MetaProperties | None:
    """Refuse a directory of another cluster or node."""
    found = read_meta_properties(files, path)
    if found is None:
        return None
    expected = {"cluster.id": (cluster_id, found.cluster_id), "node.id": (node_id, found.node_id)}
    for name, (wanted, has) in expected.items():
        if wanted is not None and wanted != has:
            raise WrongDirectoryError(
                f"{path}/meta.properties has {name}={has}, expected {wanted}: the data belongs to another "
                f"{name.partition('.')[0]}. Name the right directory, or the right {name}"
            )
    return found
