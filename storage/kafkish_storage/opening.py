"""Opens data directories and loads all their logs, many at a time. Any thread; what is opened is the caller's then."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple

from kafkish_storage.config import CleanerConfig, LogConfig, ProducerConfig
from kafkish_storage.directory import IN_USE, LogDirectory, check_properties, lock_directory
from kafkish_storage.errors import CorruptFileError, CorruptLogError
from kafkish_storage.files import Files, write_atomically
from kafkish_storage.handles import Handles
from kafkish_storage.health import Health
from kafkish_storage.loading import LoadOptions, load_log
from kafkish_storage.log import Log
from kafkish_storage.names import METADATA_TOPIC, PartitionDirectory, TopicPartition, parse_partition_directory
from kafkish_storage.properties import take_clean_shutdown

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class StorageConfig:
    """What a broker says about its storage. `config_of` knows each topic's settings."""

    config_of: Callable[[str], LogConfig] = lambda _: LogConfig()
    producers: ProducerConfig = field(default_factory=ProducerConfig)
    cleaner: CleanerConfig = field(default_factory=CleanerConfig)
    cluster_id: str | None = None
    node_id: int | None = None
    threads_per_directory: int = 2
    open_segments: int = 4096


class LoadProgress(NamedTuple):
    """How far loading is. Told on the loading threads."""

    directory: str
    partition: TopicPartition
    loaded: int
    total: int


class Opener:
    """Opens one directory."""

    def __init__(self, files: Files, path: str, config: StorageConfig, now_ms: int, dice: Random) -> None:
        self._files = files
        self._path = path
        self._config = config
        self._now_ms = now_ms
        self._dice = dice

    def open(
        self,
        handles: Handles,
        progress: Callable[[LoadProgress], None] | None = None,
        on_failure: Callable[[Health], None] | None = None,
    ) -> LogDirectory:
        """Lock the directory, check whose it is, load its logs."""
        lock = lock_directory(self._files, self._path)
        try:
            properties = check_properties(self._files, self._path, self._config.cluster_id, self._config.node_id)
            health = Health(self._path, on_failure)
            directory = LogDirectory(self._files, self._path, health, lock, properties)
            self._load(directory, handles, progress)
        except BaseException:
            lock.release()
            raise
        return directory

    def _load(self, directory: LogDirectory, handles: Handles, progress: Callable[[LoadProgress], None] | None) -> None:
        recovery_points, log_starts, high_watermarks = directory.read_checkpoints()
        was_ours = self._take_over(directory)
        found = self._partitions(directory)

        def load(item: tuple[str, PartitionDirectory]) -> None:
            name, (partition, state) = item
            options = LoadOptions(
                self._now_ms,
                was_clean=directory.was_clean,
                start_offset=log_starts.get(partition, 0) if not state else 0,
                recovery_point=recovery_points.get(partition, 0) if not state else 0,
                gaps_are_damage=was_ours,
                producers=self._config.producers,
            )
            log = self._load_one(directory, name, partition, options, handles)
            if log is not None:
                directory.add(log, future=state == "future")
                log.update_high_watermark(high_watermarks.get(partition, 0))
            if progress is not None:
                loaded = len(directory.logs) + len(directory.future) + len(directory.broken)
                progress(LoadProgress(self._path, partition, loaded, len(found)))

        with ThreadPoolExecutor(self._config.threads_per_directory) as pool:
            for _ in pool.map(load, found):
                pass

    def _take_over(self, directory: LogDirectory) -> bool:
        """Note that kafkish has the directory, before anything in it changes. Whether it had it last."""
        directory.previous_broker_epoch = take_clean_shutdown(self._files, self._path)
        directory.was_clean = directory.previous_broker_epoch is not None
        was_ours = self._files.stat(f"{self._path}/{IN_USE}") is not None
        if not was_ours:
            write_atomically(self._files, f"{self._path}/{IN_USE}", b"")
        return was_ours

    def _partitions(self, directory: LogDirectory) -> list[tuple[str, PartitionDirectory]]:
        """The directories to load; those to be deleted are put aside, and strangers are left alone."""
        found = []
        for entry in self._files.entries(self._path):
            parsed = parse_partition_directory(entry.name) if entry.is_directory else None
            if parsed is None or parsed.partition.topic == METADATA_TOPIC or parsed.state == "stray":
                if entry.is_directory and parsed is None:
                    _log.warning("%s/%s is not a partition's directory, and is left alone", self._path, entry.name)
            elif parsed.state == "delete":
                directory.doomed.append((self._now_ms, f"{self._path}/{entry.name}"))
            else:
                found.append((entry.name, parsed))
        return found

    def _load_one(
        self, directory: LogDirectory, name: str, partition: TopicPartition, options: LoadOptions, handles: Handles
    ) -> Log | None:
        try:
            return load_log(
                self._files,
                f"{self._path}/{name}",
                self._config.config_of(partition.topic),
                options,
                partition=partition,
                health=directory.health,
                handles=handles,
                dice=self._dice,
            )
        except (CorruptLogError, CorruptFileError) as error:
            _log.error("%s cannot be used: %s", partition, error)
            directory.broken[partition] = error
            return None
