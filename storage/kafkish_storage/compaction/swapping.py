"""Puts compacted segments in the place of others on disk, so that a crash finds the old ones or the new ones.

Each step is durable before the next, and `tidying` knows from the names how far it came.
"""

from collections.abc import Iterable, Sequence
from threading import Lock

from kafkish_storage.files import Files
from kafkish_storage.names import CLEANED, DELETED, INDEX_KINDS, LOG, SEGMENT_KINDS, SWAP, segment_file


class Swap:
    """Any thread; more than one may call `run`, and all return when it is done."""

    def __init__(self, files: Files, directory: str, new: Sequence[int], old: Sequence[int]) -> None:
        self._files = files
        self._directory = directory
        self._new = new
        self._old = old
        self._lock = Lock()
        self._is_done = False

    def run(self) -> None:
        with self._lock:
            if self._is_done:
                return
            self._files.sync_directory(self._directory)  # or a `.swap` could be found without all that belongs to it
            self._rename(self._new, SEGMENT_KINDS, CLEANED, SWAP)
            self._rename(self._old, INDEX_KINDS, "", DELETED)
            self._rename(self._old, (LOG,), "", DELETED)
            self._rename(self._new, SEGMENT_KINDS, SWAP, "")
            self._is_done = True

    def _rename(self, offsets: Iterable[int], kinds: Iterable[str], old_suffix: str, new_suffix: str) -> None:
        for offset in offsets:
            for kind in kinds:
                old = f"{self._directory}/{segment_file(offset, kind, old_suffix)}"
                if self._files.stat(old) is not None:
                    self._files.rename(old, f"{self._directory}/{segment_file(offset, kind, new_suffix)}")
        self._files.sync_directory(self._directory)
