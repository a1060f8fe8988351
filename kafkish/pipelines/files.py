"""Files wherever Spark keeps them (local disk, HDFS, an object store), through Hadoop's own classes.

Knows nothing of what is in the files.
"""

from typing import Any, NamedTuple

from pyspark.sql import SparkSession


class Listed(NamedTuple):
    """A file and its path below the directory that was listed."""

    path: str
    below: str


class Files:
    """The few operations that a pipeline needs. Paths are local paths or URIs."""

    def __init__(self, spark: SparkSession) -> None:
        context = spark.sparkContext
        self._jvm: Any = context._jvm
        self._gateway: Any = context._gateway
        self._conf = context._jsc.hadoopConfiguration()

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory."""
        found: bool = self._system(path).exists(self._path(path))
        return found

    def list(self, directory: str) -> list[Listed]:
        """All files below a directory, without those that start with `_` or `.`; sorted."""
        if not self.exists(directory):
            return []
        root = self._system(directory).getFileStatus(self._path(directory)).getPath().toString()
        files = self._system(directory).listFiles(self._path(directory), True)
        found = []
        while files.hasNext():
            path = files.next().getPath().toString()
            below = path.removeprefix(root).lstrip("/")
            if not any(part.startswith(("_", ".")) for part in below.split("/")):
                found.append(Listed(path, below))
        return sorted(found)

    def read(self, path: str) -> str | None:
        """The text of a small file; None if there is none."""
        if not self.exists(path):
            return None
        stream = self._system(path).open(self._path(path))
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def write(self, path: str, text: str) -> None:
        """Replace a small file whole: a reader, or a run after a crash, sees the old text or the new."""
        temporary = f"{path}.tmp"
        stream = self._system(path).create(self._path(temporary), True)
        stream.write(text.encode())
        stream.close()
        self.replace(temporary, path)

    def replace(self, source: str, target: str) -> None:
        """Rename, over what is there; on file systems with a real rename nobody sees a moment in between."""
        to = self._path(target)
        self._system(target).mkdirs(to.getParent())
        kind = getattr(self._jvm.org.apache.hadoop.fs, "Options$Rename")
        options = self._gateway.new_array(kind, 1)
        options[0] = kind.OVERWRITE
        context = self._jvm.org.apache.hadoop.fs.FileContext.getFileContext(to.toUri(), self._conf)
        context.rename(self._path(source), to, options)

    def delete(self, path: str) -> None:
        """Remove a file or a directory with all that is in it."""
        self._system(path).delete(self._path(path), True)

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path)

    def _system(self, path: str) -> Any:
        return self._path(path).getFileSystem(self._conf)
