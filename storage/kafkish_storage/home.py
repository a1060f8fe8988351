"""Where a partition's files are. One object for a log and all that belongs to it, so that a rename reaches all."""

from kafkish_storage.files.port import Files
from kafkish_storage.handles import Handles


class Home:
    """A partition's directory. Owner's thread."""

    __slots__ = ("files", "handles", "path")

    def __init__(self, files: Files, path: str, handles: Handles | None = None) -> None:
        self.files = files
        self.path = path
        self.handles = handles or Handles()

    def __truediv__(self, name: str) -> str:
        return f"{self.path}/{name}"
