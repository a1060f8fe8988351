"""The one port to the disk: what storage asks of it, the real disk, and a twin in memory that can crash."""

from kafkish_storage.files.atomic import replace_file, write_atomically
from kafkish_storage.files.disk import DiskFiles
from kafkish_storage.files.port import Entry, File, Files, Lock, Mapping, Stat

__all__ = ["DiskFiles", "Entry", "File", "Files", "Lock", "Mapping", "Stat", "replace_file", "write_atomically"]
