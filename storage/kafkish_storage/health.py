"""Whether a data directory still works. Any thread.

A failed sync is never tried again: the kernel has dropped the pages that it could not write, and the next sync would
succeed without them. So the first error takes the directory offline for good, unless a write found the disk full.
"""

from collections.abc import Callable

from kafkish_storage.errors import DiskFullError, OfflineError, StorageError
from kafkish_storage.files.port import NO_SPACE


class Health:
    """Shared by a directory and all of its logs. `on_failure` is told once, on the thread that met the error."""

    __slots__ = ("directory", "failure", "on_failure")

    def __init__(self, directory: str, on_failure: "Callable[[Health], None] | None" = None) -> None:
        self.directory = directory
        self.failure: str | None = None
        self.on_failure = on_failure

    def check(self) -> None:
        """Raise if the directory is offline."""
        if self.failure is not None:
            raise OfflineError(f"{self.directory} is offline: {self.failure}")

    def failed(self, error: OSError, action: str) -> StorageError:
        """What to raise for an error of the operating system's; the directory goes offline unless it is only full."""
        where = f" ({error.filename})" if error.filename else ""
        if error.errno in NO_SPACE:
            return DiskFullError(f"no space is left in {self.directory} {action}{where}. Nothing was lost: free some")
        return self.failed_to_sync(error, action)

    def failed_to_sync(self, error: OSError, action: str) -> StorageError:
        """The same for a sync. One that finds the disk full has lost what was written, and takes it offline, too."""
        where = f" ({error.filename})" if error.filename else ""
        if self.failure is None:
            self.failure = f"{error.strerror or error} {action}{where}"
            if self.on_failure is not None:
                self.on_failure(self)
        return OfflineError(f"{self.directory} is offline: {self.failure}. Mend the disk, then start the broker again")
