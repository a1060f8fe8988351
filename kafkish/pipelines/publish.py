"""Batches of a stream become files that hold each row once, for every reader of files, whenever the run is killed.

Spark writes a batch to a hidden directory beside the output; then each file is renamed into place, under a name that
has the batch's number. Spark repeats a batch that was not finished with the same rows: its files replace those that the
first attempt left. So there is no list of valid files that a reader would have to know.

Every run has a hidden directory of its own: workers of a run whose driver was killed may still write for a while.
"""

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from kafkish.pipelines.files import Files, Listed

Namer = Callable[[list[Listed], int], dict[str, str]]
"""Staged files of a batch -> path of each below the output: a function of the batch, not of the attempt."""


@dataclass(slots=True)
class Publisher:
    """One output directory, filled by one query."""

    files: Files
    directory: str
    format: str
    name_files: Namer
    partition_by: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    _run: str = field(default_factory=lambda: secrets.token_hex(4))
    _may_repeat: bool = True
    """Only the first batch of a run can be one that an earlier run began."""

    @property
    def staging(self) -> str:
        """Hidden, and beside the output: on its file system, but below nothing that a reader lists."""
        return f"{self._staging_of_all_runs}/{self._run}"

    @property
    def _staging_of_all_runs(self) -> str:
        parent, _, name = self.directory.rstrip("/").rpartition("/")
        return f"{parent}/.{name}.staging"

    def publish(self, rows: DataFrame, batch: int) -> int:
        """Write a batch; how many rows it had."""
        if self._may_repeat:
            self.files.delete(self._staging_of_all_runs)
        counted = Observation()
        written = rows.observe(counted, F.count(F.lit(1)).alias("rows"))
        writer = written.write.mode("overwrite").format(self.format).options(**self.options)
        writer.partitionBy(*self.partition_by).save(self.staging)
        count = int(counted.get["rows"])
        names = self.name_files(self.files.list(self.staging), batch) if count else {}
        if self._may_repeat:
            self._remove_leftovers(batch, set(names.values()))
        for staged, name in names.items():
            self.files.replace(staged, f"{self.directory}/{name}")
        self.files.delete(self._staging_of_all_runs)
        self._may_repeat = False
        return count

    def _remove_leftovers(self, batch: int, kept: set[str]) -> None:
        """Files of an earlier attempt at this batch that this one does not replace."""
        for file in self.files.list(self.directory):
            if f"batch-{batch:08d}-" in PurePosixPath(file.below).name and file.below not in kept:
                self.files.delete(file.path)


def names_by_batch(staged: list[Listed], batch: int) -> dict[str, str]:
    """`country=DE/batch-00000012-00000.snappy.parquet`."""
    paths = [PurePosixPath(file.below) for file in staged]
    return {
        file.path: str(path.with_name(f"batch-{batch:08d}-{index:05d}.{suffix(path)}"))
        for index, (file, path) in enumerate(zip(staged, paths, strict=True))
    }


def name_of_table(staged: list[Listed], batch: int) -> dict[str, str]:
    """A table that each batch replaces: one file, always of the same name."""
    del batch
    assert len(staged) == 1, staged
    return {staged[0].path: f"table.{suffix(PurePosixPath(staged[0].below))}"}


def suffix(path: PurePosixPath) -> str:
    """`snappy.parquet` of `part-00000-(uuid).c000.snappy.parquet`, which is what Spark names files."""
    return re.sub(r"^c\d+\.", "", path.name.partition(".")[2])
