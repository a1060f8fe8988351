"""Kafka's own DumpLogSegments, and what it says of files that are as they should be."""

import subprocess
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import apache_kafka

from kafkish_protocol.records import Batch, read_batches

TOOL = "org.apache.kafka.tools.DumpLogSegments"
KINDS = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")


class Dump(NamedTuple):
    """What the tool printed, and its complaints: a file and the lines below its name."""

    lines: list[str]
    complaints: dict[str, list[str]]


def files_of(directory: Path, topic: str = "*", kinds: tuple[str, ...] = KINDS) -> list[Path]:
    return sorted(path for path in directory.glob(f"{topic}-0/*") if path.suffix in kinds)


def dump(files: list[Path], *options: str) -> Dump:
    command = apache_kafka.java(TOOL, *options, "--files", ",".join(map(str, files)))
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0, run.stderr
    complaints: dict[str, list[str]] = {}
    for line in run.stderr.splitlines():
        if line.startswith("  "):
            complaints[next(reversed(complaints))].append(line.strip())
        else:
            complaints[line] = []
    return Dump(run.stdout.splitlines(), complaints)


def unavoidable(files: list[Path]) -> dict[str, list[str]]:
    """What the tool reports of Kafka's own files as well.

    It expects every file to start at offset 0 and to have no gaps, which is true of neither a second segment nor a
    compacted one; and it takes an emptied batch, which keeps its newest timestamp, for one without.
    """
    expected: dict[str, list[str]] = {}
    for path in files:
        batches = list(read_batches(path.with_suffix(".log").read_bytes()))
        if path.suffix == ".log":
            _add(expected, f"Non-consecutive offsets in {path}", gaps(batches))
        elif path.suffix == ".timeindex":
            _add(expected, f"Found timestamp mismatch in :{path}", emptied(path.read_bytes(), batches, path))
    return expected


def _add(expected: dict[str, list[str]], title: str, lines: list[str]) -> None:
    if lines:
        expected[title] = lines


def gaps(batches: list[Batch]) -> list[str]:
    offsets = [-1, *(record.offset for batch in batches for record in batch.records())]
    pairs = pairwise(offsets)
    return [f"{before} is followed by {after}" for before, after in pairs if after != before + 1]


def emptied(index: bytes, batches: list[Batch], path: Path) -> list[str]:
    empty = {batch.last_offset for batch in batches if batch.count == 0}
    entries = [(index[at : at + 8], index[at + 8 : at + 12]) for at in range(0, len(index), 12)]
    found = [(int.from_bytes(time, "big"), int(path.stem) + int.from_bytes(delta, "big")) for time, delta in entries]
    return [f"Index timestamp: {time}, log timestamp: -1" for time, offset in found if offset in empty]
