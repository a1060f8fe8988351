"""All logs of a broker, in one data directory or several (JBOD). Owner's thread, except where a method says otherwise.

Work that takes long comes as jobs: made and finished on the owner's thread, run on any.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Final, NamedTuple

from kafkish_storage.compaction import CompactionJob, choose
from kafkish_storage.directory import LogDirectory
from kafkish_storage.errors import (
    DirectoryError,
    OfflineError,
    StorageError,
    TopicIdError,
    UnwritableDirectoryError,
    WrongDirectoryError,
)
from kafkish_storage.files import Files
from kafkish_storage.handles import Handles
from kafkish_storage.health import Health
from kafkish_storage.loading import LoadOptions, load_log
from kafkish_storage.log import Log
from kafkish_storage.names import TopicPartition, directory_in_state, is_topic_name
from kafkish_storage.opening import LoadProgress, Opener, StorageConfig
from kafkish_storage.properties import write_topic_id
from kafkish_storage.retention import expire

_log: Final = logging.getLogger(__name__)


class NewLog(NamedTuple):
    """A log to be created; without a directory's id it goes where the fewest are."""

    partition: TopicPartition
    topic_id: str | None = None
    directory_id: str | None = None
    is_future: bool = False


class LogManager:
    """The logs of all directories that work. `offline` says why the others do not."""

    def __init__(self, files: Files, config: StorageConfig, dice: Random) -> None:
        self.files = files
        self.config = config
        self.directories: list[LogDirectory] = []
        self.offline: dict[str, str] = {}
        self.cordoned: set[str] = set()  # paths of directories that get no new logs
        self.on_offline: Callable[[str], None] | None = None
        self.handles = Handles(config.open_segments)
        self._dice = dice
        self._compacting: set[Log] = set()

    @classmethod
    def open(
        cls,
        files: Files,
        paths: Sequence[str],
        config: StorageConfig,
        *,
        now_ms: int,
        dice: Random,
        progress: Callable[[LoadProgress], None] | None = None,
    ) -> "LogManager":
        """Open all directories. Any thread. One that cannot be read is offline; at least one must work."""
        manager = cls(files, config, dice)
        try:
            for path in paths:
                manager._open(path, now_ms, progress)
            if not manager.directories:
                reasons = "; ".join(f"{path}: {reason}" for path, reason in manager.offline.items())
                raise DirectoryError(f"none of the data directories can be used. {reasons}")
            manager._refuse_duplicates()
        except BaseException:
            for directory in manager.directories:
                directory.abandon()
            raise
        return manager

    def _open(self, path: str, now_ms: int, progress: Callable[[LoadProgress], None] | None) -> None:
        opener = Opener(self.files, path, self.config, now_ms, self._dice)
        try:
            self.directories.append(opener.open(self.handles, progress, self._went_offline))
        except (OSError, UnwritableDirectoryError) as error:
            self.offline[path] = (error.strerror if isinstance(error, OSError) else None) or str(error)
            _log.error("the data directory %s is offline: %s", path, self.offline[path])

    def _refuse_duplicates(self) -> None:
        ids = [directory.directory_id for directory in self.directories if directory.directory_id]
        if len(ids) != len(set(ids)):
            raise WrongDirectoryError(f"two data directories have the same directory.id: {', '.join(ids)}")
        seen: dict[TopicPartition, str] = {}
        for directory in self.directories:
            for partition in directory.logs:
                if partition in seen:
                    raise DirectoryError(
                        f"{partition} is in {seen[partition]} and in {directory.path}: it was being moved when a "
                        f"directory failed. Remove the one in the directory that failed"
                    )
                seen[partition] = directory.path

    def _went_offline(self, health: Health) -> None:
        """Any thread: an error has taken a directory offline."""
        self.offline[health.directory] = health.failure or ""
        if self.on_offline is not None:
            self.on_offline(health.directory)

    # -- finding

    def get(self, partition: TopicPartition) -> Log | None:
        for directory in self.directories:
            log = directory.logs.get(partition)
            if log is not None:
                return log
        return None

    def directory_of(self, log: Log) -> LogDirectory:
        return next(directory for directory in self.directories if directory.health is log.health)

    @property
    def logs(self) -> list[Log]:
        return [log for directory in self.directories for log in directory.logs.values()]

    @property
    def online(self) -> list[LogDirectory]:
        return [directory for directory in self.directories if directory.health.failure is None]

    # -- creating and deleting

    def create(self, new: Iterable[NewLog], now_ms: int) -> "CreateJob":
        """Make logs. Those that exist already are left as they are."""
        return CreateJob(self, new, now_ms)

    def place(self, new: NewLog, planned: dict[str, int]) -> LogDirectory:
        """Where a new log goes: as asked, or where the fewest logs are."""
        if new.directory_id is not None:
            for directory in self.online:
                if directory.directory_id == new.directory_id:
                    return directory
        if self.offline and new.directory_id is not None:
            raise OfflineError(f"the directory {new.directory_id} for {new.partition} is offline")
        open_to_all = [one for one in self.online if one.path not in self.cordoned] or self.online
        if not open_to_all:
            raise OfflineError(f"no directory is left for {new.partition}: {self.offline}")
        return min(open_to_all, key=lambda one: len(one.logs) + planned.get(one.path, 0))

    def delete(self, partition: TopicPartition, now_ms: int) -> None:
        """Take a log out of service. Its directory gets another name now, and is removed after a while."""
        self._retire(partition, "delete", now_ms)

    def set_aside(self, partition: TopicPartition, now_ms: int) -> None:
        """Take a log out of service that belongs to nobody, and keep its directory for somebody to look at."""
        self._retire(partition, "stray", now_ms)

    def _retire(self, partition: TopicPartition, state: str, now_ms: int) -> None:
        for directory in self.directories:
            for logs in (directory.logs, directory.future):
                log = logs.pop(partition, None)
                if log is not None:
                    self._rename(directory, log, state, now_ms)

    def _rename(self, directory: LogDirectory, log: Log, state: str, now_ms: int) -> None:
        log.generation += 1  # whatever a worker is doing with it is void
        path = f"{directory.path}/{directory_in_state(log.partition, state, self._dice)}"
        log.rename(path)
        log.sleep()
        if state == "delete":
            directory.doomed.append((now_ms + log.config.file_delete_delay_ms, path))

    def promote(self, partition: TopicPartition, now_ms: int) -> Log:
        """A log has been moved to another directory: the copy takes the place of the original."""
        target = next(directory for directory in self.directories if partition in directory.future)
        log = target.future.pop(partition)
        old = self.get(partition)
        if old is not None:
            log.update_high_watermark(old.high_watermark)
            source = self.directory_of(old)
            del source.logs[partition]
            self._rename(source, old, "delete", now_ms)
            if partition in source.cleaned:
                target.cleaned[partition] = source.cleaned.pop(partition)
        for job in target.forget([partition]):
            job.run()
        log.rename(f"{target.path}/{partition}")
        target.add(log)
        return log

    # -- keeping

    def retain(self, logs: Iterable[Log], now_ms: int) -> "RetentionJob":
        """Delete what the settings of some logs let go."""
        return RetentionJob(self, logs, now_ms)

    def remove_expired_producers(self, now_ms: int) -> None:
        for log in self.logs:
            log.producers.remove_expired(now_ms)

    def next_compaction(self, now_ms: int) -> CompactionJob | None:
        """The compaction that is most needed, if one is. Until `compaction_ended`, its log is not compacted again."""
        candidates = [
            (log, directory.cleaned.get(partition))
            for directory in self.online
            for partition, log in directory.logs.items()
            if log not in self._compacting
        ]
        chosen = choose(candidates, now_ms)
        if chosen is None:
            return None
        self._compacting.add(chosen.log)
        return CompactionJob(chosen, self.config.cleaner, now_ms)

    def compaction_ended(self, job: CompactionJob, cleaned_offset: int | None) -> None:
        """A compaction was finished, up to an offset; or, with None, it was not."""
        partition = job.log.partition
        self._compacting.discard(job.log)
        if cleaned_offset is not None and self.get(partition) is job.log:
            self.directory_of(job.log).cleaned[partition] = cleaned_offset

    # -- ending

    def close(self, broker_epoch: int = -1) -> None:
        """Stop cleanly. Any thread, when nobody else uses the logs. A directory that fails does not stop the others."""
        failures = []
        for directory in self.directories:
            try:
                directory.close(broker_epoch)
            except StorageError as error:
                failures.append(error)
        if failures:
            raise failures[0]


class CreateJob:
    """Makes logs: `run` on any thread, `finish` on the owner's."""

    def __init__(self, manager: LogManager, new: Iterable[NewLog], now_ms: int) -> None:
        self._manager = manager
        self._now_ms = now_ms
        self._made: list[tuple[LogDirectory, NewLog, Log]] = []
        self._plan: list[tuple[LogDirectory, NewLog, str]] = []
        planned: dict[str, int] = {}
        for one in new:
            existing = manager.get(one.partition)
            if existing is not None and not one.is_future:
                _check_topic_id(existing, one.topic_id)
                continue
            if not is_topic_name(one.partition.topic):
                raise ValueError(f"{one.partition.topic!r} cannot be the name of a topic")
            directory = manager.place(one, planned)
            planned[directory.path] = planned.get(directory.path, 0) + 1
            self._plan.append((directory, one, self._directory_name(one)))
        planned_names = [one.partition for _, one, _ in self._plan]
        affected = [directory for directory in manager.directories if directory.path in planned]
        self._checkpoints = [job for directory in affected for job in directory.forget(planned_names)]

    def _directory_name(self, new: NewLog) -> str:
        return directory_in_state(new.partition, "future", self._manager._dice) if new.is_future else str(new.partition)

    def run(self) -> None:
        """Any thread."""
        for job in self._checkpoints:
            job.run()
        for directory, new, name in self._plan:
            directory.health.check()
            try:
                self._made.append((directory, new, self._make(directory, new, f"{directory.path}/{name}")))
            except OSError as error:
                raise directory.health.failed(error, f"while creating {new.partition}") from error
        for directory in {id(one[0]): one[0] for one in self._made}.values():
            try:
                directory.files.sync_directory(directory.path)
            except OSError as error:
                raise directory.health.failed_to_sync(error, "while creating logs") from error

    def _make(self, directory: LogDirectory, new: NewLog, path: str) -> Log:
        manager = self._manager
        directory.files.make_directory(path)
        if new.topic_id is not None:
            write_topic_id(directory.files, path, new.topic_id)
        options = LoadOptions(self._now_ms, was_clean=True, producers=manager.config.producers)
        return load_log(
            directory.files, path, manager.config.config_of(new.partition.topic), options,
            partition=new.partition, health=directory.health, dice=manager._dice,
        )  # fmt: skip

    def finish(self) -> list[Log]:
        """The new logs, in service."""
        for directory, new, log in self._made:
            log.home.handles = self._manager.handles
            directory.add(log, future=new.is_future)
        return [log for _, _, log in self._made]


def _check_topic_id(log: Log, topic_id: str | None) -> None:
    if topic_id is not None and log.topic_id is not None and topic_id != log.topic_id:
        raise TopicIdError(f"{log.home.path} is of the topic with id {log.topic_id}, expected {topic_id}")


class RetentionJob:
    """Deletes segments: made on the owner's thread, run on any, finished on the owner's."""

    def __init__(self, manager: LogManager, logs: Iterable[Log], now_ms: int) -> None:
        self._now_ms = now_ms
        expired = [log for log in logs if log.health.failure is None and _is_expired(log, now_ms)]
        self._shortened = [(log, log.home.path) for log in expired if log.has_segments_before_start]
        healths = {id(log.health) for log in expired if log.start_offset > log.segments.first.base_offset}
        affected = [directory for directory in manager.directories if id(directory.health) in healths]
        self._jobs = [directory.checkpoint_log_starts() for directory in affected]

    def run(self) -> None:
        """Make the logs' starts durable, before anything goes. Any thread."""
        for job in self._jobs:
            job.run()
        for log, path in self._shortened:
            self._sync_names(log, path)

    def _sync_names(self, log: Log, path: str) -> None:
        """A crash must find the segment that becomes the first: without it, a later one would pass for the first."""
        try:
            log.home.files.sync_directory(path)
        except FileNotFoundError:  # the log was deleted meanwhile
            return
        except OSError as error:
            raise log.health.failed(error, f"while deleting segments of {log.partition}") from error

    def finish(self) -> int:
        """Delete the segments before the starts. How many. Their files follow after `file.delete.delay.ms`."""
        return sum(log.drop_before_start(self._now_ms) for log, _ in self._shortened)


def _is_expired(log: Log, now_ms: int) -> bool:
    """Expire it; False if it cannot be read: the others must not wait for it."""
    try:
        expire(log, now_ms)
    except OSError as error:
        _log.error("%s", log.health.failed(error, f"while looking for old segments of {log.partition}"))
        return False
    except StorageError as error:
        _log.error("retention leaves %s alone: %s", log.partition, error)
        return False
    return True
