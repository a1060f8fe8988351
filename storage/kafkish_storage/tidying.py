"""Makes a partition's directory what it should be after a crash, by the names of its files alone. Any thread.

Compaction writes `.cleaned` files, renames all of a segment's to `.swap`, renames what they replace to `.deleted`,
first the indexes and then the logs, and takes `.swap` off; each step is durable before the next:

* `.deleted` is rubbish. `.cleaned` is unfinished, and so is a `.swap` at or above it.
* any other `.swap` is complete: what it replaces goes, and it takes the place.
"""

from dataclasses import dataclass, field

from kafkish_protocol.records import BatchHeader
from kafkish_storage.home import Home
from kafkish_storage.names import (
    CLEANED,
    DELETED,
    INDEX_KINDS,
    LOG,
    SNAPSHOT,
    SWAP,
    SegmentFile,
    parse_segment_file,
    segment_file,
)
from kafkish_storage.scan import walk


@dataclass(slots=True)
class Inventory:
    """What a directory has: the kinds of files for each base offset, the snapshots' offsets, and other names."""

    segments: dict[int, set[str]] = field(default_factory=dict)
    snapshots: set[int] = field(default_factory=set)
    others: set[str] = field(default_factory=set)
    is_changed: bool = False


def tidy(home: Home) -> Inventory:
    """Finish or undo what was interrupted, and say what is there."""
    names = [entry.name for entry in home.files.entries(home.path) if not entry.is_directory]
    parsed = {name: parse_segment_file(name) for name in names}
    known = {name: file for name, file in parsed.items() if file is not None}
    changes = _remove_unfinished(home, known)
    changes |= _finish_swaps(home, known)
    inventory = Inventory(others=set(names) - set(known), is_changed=changes)
    for file in known.values():
        if file.suffix:
            continue
        if file.kind == SNAPSHOT:
            inventory.snapshots.add(file.offset)
        elif file.kind == LOG or file.kind in INDEX_KINDS:
            inventory.segments.setdefault(file.offset, set()).add(file.kind)
    _remove_orphans(home, inventory)
    return inventory


def _remove(home: Home, known: dict[str, SegmentFile], names: list[str]) -> bool:
    for name in names:
        home.files.remove(home / name)
        del known[name]
    return bool(names)


def _remove_unfinished(home: Home, known: dict[str, SegmentFile]) -> bool:
    cleaned = [file.offset for file in known.values() if file.suffix == CLEANED]
    first_cleaned = min(cleaned, default=2**63)
    swaps = [name for name, file in known.items() if file.suffix == SWAP and file.offset >= first_cleaned]
    changed = _remove(home, known, swaps)
    if changed:
        home.files.sync_directory(home.path)  # while a `.cleaned` still tells that they are unfinished
    return changed | _remove(home, known, [name for name, file in known.items() if file.suffix in (CLEANED, DELETED)])


def _finish_swaps(home: Home, known: dict[str, SegmentFile]) -> bool:
    swaps = {name: file for name, file in known.items() if file.suffix == SWAP}
    if not swaps:
        return False
    for file in swaps.values():
        if file.kind == LOG:
            _remove(home, known, _replaced_by(home, file.offset, known))
    home.files.sync_directory(home.path)  # before the mark is taken off that tells to remove them
    for name, file in swaps.items():
        final = segment_file(file.offset, file.kind)
        home.files.rename(home / name, home / final)
        del known[name]
        known[final] = SegmentFile(file.offset, file.kind, "")
    return True


def _replaced_by(home: Home, offset: int, known: dict[str, SegmentFile]) -> list[str]:
    """The files that a `.swap` segment replaces.

    If the segment of the same offset is gone, so are its indexes, for they went first: files with the offset are those
    of the new segment, whose mark was taken off already.
    """
    end = _end_of_swap(home, offset)
    start = offset if segment_file(offset, LOG) in known else offset + 1
    files = [(name, file) for name, file in known.items() if not file.suffix and file.kind != SNAPSHOT]
    return [name for name, file in files if start <= file.offset < end]


def _end_of_swap(home: Home, offset: int) -> int:
    """The offset after the last batch of a segment that replaces others."""
    file = home.files.open(home / segment_file(offset, LOG, SWAP))
    last: BatchHeader | None = None
    for _, header in walk(file, 0, file.size_bytes()):
        last = header
    return last.next_offset if last else offset + 1


def _remove_orphans(home: Home, inventory: Inventory) -> None:
    """Remove indexes without a log."""
    for offset in [offset for offset, kinds in inventory.segments.items() if LOG not in kinds]:
        for kind in inventory.segments.pop(offset):
            home.files.remove(home / segment_file(offset, kind))
        inventory.is_changed = True
