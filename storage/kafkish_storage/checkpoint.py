"""Kafka's checkpoint files: a version, a count, and a line for each entry.

    0
    2
    orders 0 1042
    orders 1 998

Written as a whole, and durable when that returns unless `write` says otherwise. What cannot be read is refused, never
guessed: an offset that is wrong by one loses data.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

from kafkish_storage.errors import CorruptFileError
from kafkish_storage.files import Files, write_atomically
from kafkish_storage.names import TopicPartition

RECOVERY_POINTS: Final = "recovery-point-offset-checkpoint"
LOG_STARTS: Final = "log-start-offset-checkpoint"
HIGH_WATERMARKS: Final = "replication-offset-checkpoint"
CLEANED_OFFSETS: Final = "cleaner-offset-checkpoint"

_VERSION: Final = "0"
_REMEDY: Final = "Restore it from a backup; or, if you accept that all of the directory's logs are checked, remove it"

T = TypeVar("T")


def write_lines(
    files: Files, path: str, lines: Iterable[str], *, write: Callable[[Files, str, bytes], None] = write_atomically
) -> None:
    """Replace a checkpoint file. Any thread, one at a time for a path."""
    entries = list(lines)
    text = "".join(f"{line}\n" for line in (_VERSION, len(entries), *entries))
    write(files, path, text.encode())


def read_lines(files: Files, path: str, parse: Callable[[list[str]], T]) -> list[T]:
    """The entries of a checkpoint file; none if there is no file or it is empty, as Kafka creates it."""
    data = files.read(path)
    lines = data.decode("utf-8", "replace").splitlines() if data else []
    if not lines:
        return []
    if lines[0] != _VERSION:
        raise CorruptFileError(path, f"version {lines[0]!r} is not known, expected version {_VERSION}", _REMEDY)
    try:
        entries = [parse(line.split()) for line in lines[2:]]
        count = int(lines[1]) if len(lines) > 1 else 0
    except (ValueError, IndexError) as error:
        raise CorruptFileError(path, f"a line is not as it should be ({error})", _REMEDY) from None
    if count != len(entries):
        raise CorruptFileError(path, f"expected {count} entries, found {len(entries)}", _REMEDY)
    return entries


def write_offsets(files: Files, path: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Write an offset for each partition."""
    write_lines(files, path, (f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items()))


def read_offsets(files: Files, path: str) -> dict[TopicPartition, int]:
    """An offset for each partition."""
    return dict(read_lines(files, path, _parse_offset))


def _parse_offset(words: list[str]) -> tuple[TopicPartition, int]:
    topic, partition, offset = words
    return TopicPartition(topic, int(partition)), int(offset)
