"""Makes what was appended durable: many appends, one sync."""

from typing import TYPE_CHECKING

from kafkish_storage.aborted import checksums
from kafkish_storage.leader_epochs import EpochStart, write_leader_epochs
from kafkish_storage.transaction_checkpoint import write_transaction_checkpoint

if TYPE_CHECKING:
    from kafkish_storage.log import Log


class FlushJob:
    """Make it and finish it on the owner's thread, run it on any. A log has one at a time.

    The order matters: what a crash must find is durable before `finish` moves the recovery point over it.
    """

    def __init__(self, log: "Log") -> None:
        self._log = log
        self._generation = log.generation
        self._files = log.home.files
        self._directory = log.home.path
        self.durable_offset = log.end_offset
        segments = log.segments.holding(log.recovery_point, log.end_offset)
        for segment in segments:
            segment.transactions.write()
        self._sizes = [(segment, segment.size_bytes) for segment in segments]
        self._to_sync = [file for segment in segments for file in segment.files_to_sync()]
        self._to_sync += [self._files.open(log.snapshots.path(offset)) for offset in log.snapshots.unsynced]
        self._snapshots = list(log.snapshots.unsynced)
        new_names = any(segment.base_offset >= log.recovery_point for segment in segments)
        self._epochs: list[EpochStart] | None = list(log.epochs.entries) if log.epochs.changed else None
        self._checkpoint = checksums(log) if log.transactions_changed else None
        is_replacing = self._epochs is not None or self._checkpoint is not None
        self._syncs_directory = new_names or log.names_changed or is_replacing
        log.names_changed = log.epochs.changed = log.transactions_changed = False
        self._is_done = False

    def run(self) -> None:
        """Sync. Any thread. Raises OfflineError if it fails; the log's directory is offline then, for good."""
        self._log.health.check()
        action = f"while syncing {self._log.partition}"
        try:
            for file in self._to_sync:
                file.sync()
        except OSError as error:
            raise self._log.health.failed_to_sync(error, action) from error
        try:
            self._write_names()
        except OSError as error:
            if self._is_overtaken and isinstance(error, FileNotFoundError):
                return  # the directory has another name now
            raise self._log.health.failed(error, action) from error

    @property
    def _is_overtaken(self) -> bool:
        """Whether the log was cut or renamed since: its directory may be another log's now."""
        return self._log.generation != self._generation

    def _write_names(self) -> None:
        if self._epochs is not None and not self._is_overtaken:
            write_leader_epochs(self._files, self._directory, self._epochs)
        if self._checkpoint is not None and not self._is_overtaken:
            write_transaction_checkpoint(self._files, self._directory, self._checkpoint)
        if self._syncs_directory and not self._is_overtaken:
            self._files.sync_directory(self._directory)
        self._is_done = not self._is_overtaken

    def finish(self) -> int:
        """Move the recovery point; return the offset up to which all is durable. Call it also if `run` raised."""
        log = self._log
        log.flushing = None
        if not self._is_done or self._is_overtaken:  # what was synced may be gone
            log.names_changed |= self._syncs_directory
            log.epochs.changed |= self._epochs is not None
            log.transactions_changed |= self._checkpoint is not None
            return log.recovery_point
        log.recovery_point = max(log.recovery_point, self.durable_offset)
        log.snapshots.unsynced = [offset for offset in log.snapshots.unsynced if offset not in self._snapshots]
        for segment, size_bytes in self._sizes:
            segment.synced_bytes = max(segment.synced_bytes, size_bytes)
        return self.durable_offset
