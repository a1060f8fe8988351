"""What `verify` found, for people and for programs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from kafkish.pipelines.cluster import Ends
from kafkish.pipelines.jobs.verify import HASH_PARTS, whole_hash
from kafkish.pipelines.model import Check

COMPARED: Final = ("duplicates_there", "only_here", "only_there", "different")
TROUBLES: Final = {
    "gaps": "missing offsets",
    "duplicates": "offsets twice",
    "duplicates_there": "offsets twice in the copy",
    "only_here": "not in the copy",
    "only_there": "only in the copy",
    "different": "different in the copy",
    "repeated": "sequence numbers repeated for their key",
    "disordered": "out of order for their key",
    "strayed": "of a key that has records in another partition",
}


@dataclass(frozen=True, slots=True)
class PartitionReport:
    """One partition. `first` has the first offset of each kind of trouble."""

    topic: str
    partition: int
    records: int
    first_offset: int | None
    last_offset: int | None
    judged: int
    troubles: Mapping[str, int]
    first: Mapping[str, int]
    hash: str
    records_there: int = 0
    hash_there: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """One check."""

    name: str
    subject: str
    against: str
    sequence: str
    gaps_allowed: bool
    partitions: Sequence[PartitionReport] = field(default_factory=list)

    @property
    def records(self) -> int:
        """How many records the subject has."""
        return sum(partition.records for partition in self.partitions)

    def trouble(self, name: str) -> int:
        """How often one kind of trouble was found."""
        return sum(partition.troubles.get(name, 0) for partition in self.partitions)

    @property
    def good(self) -> bool:
        """Whether nothing was found that must not be."""
        return not any(self.trouble(name) for name in TROUBLES if not (name == "gaps" and self.gaps_allowed))

    def as_json(self) -> str:
        """For programs."""
        totals = {name: self.trouble(name) for name in TROUBLES}
        return json.dumps({"good": self.good, "records": self.records, **totals, **asdict(self)}, indent=1)

    def as_text(self) -> str:
        """For people: a line for each partition, and one for each kind of trouble."""
        lines = [f"verify {self.name}: {self.subject}" + (f" against {self.against}" if self.against else "")]
        for part in self.partitions:
            there = f"  copy {part.records_there:,} {part.hash_there}" if self.against else ""
            stretch = "empty" if part.first_offset is None else f"{part.first_offset}..{part.last_offset}"
            lines.append(f"  {part.topic}-{part.partition}  {part.records:,} records  {stretch}  {part.hash}{there}")
        for name, meaning in TROUBLES.items():
            if count := self.trouble(name):
                lines.append(f"  {count:,} {meaning}{self._example(name)}")
        judged = sum(part.judged for part in self.partitions)
        if self.sequence:
            lines.append(f"  {judged:,} records have a key and a sequence number ({self.sequence})")
        nothing = "" if self.records else ", so nothing was checked"
        lines.append(f"  {'GOOD' if self.good else 'BAD'}: {self.records:,} records{nothing}")
        return "\n".join(lines)

    def _example(self, name: str) -> str:
        for part in self.partitions:
            if name in part.first:
                return f"; the first is {part.topic}-{part.partition} offset {part.first[name]}"
        return ""


def make_report(check: Check, rows: Sequence[Mapping[str, Any]], start: Ends, end: Ends) -> Report:
    """From the rows of the pass. With `start` and `end`, every offset between them should be there."""
    found = {(row["topic"], row["partition"]): row for row in rows}
    bounds = {
        (topic, partition): (low, end[topic][partition]) for topic, of in start.items() for partition, low in of.items()
    }
    compared = check.against is not None
    parts = [
        _partition(*place, found[place], bounds.get(place), compared)
        if place in found
        else _empty(*place, bounds[place])
        for place in sorted({*found, *bounds})
    ]
    against = str(check.against) if check.against else ""
    return Report(check.name, str(check.subject), against, check.sequence, check.gaps_allowed, parts)


def _empty(topic: str, partition: int, bounds: tuple[int, int]) -> PartitionReport:
    return PartitionReport(topic, partition, 0, None, None, 0, {"gaps": bounds[1] - bounds[0]}, {}, f"{0:016x}")


def _partition(
    topic: str, partition: int, row: Mapping[str, Any], bounds: tuple[int, int] | None, compared: bool
) -> PartitionReport:
    first, last = row["first_offset"], row["last_offset"]
    span = bounds[1] - bounds[0] if bounds else (0 if first is None else last - first + 1)
    troubles = {name: int(row[name]) for name in TROUBLES if name != "gaps" and (compared or name not in COMPARED)}
    here, there = (
        whole_hash([int(row[f"sum_{side}_{index}"]) for index in range(HASH_PARTS)]) for side in ("here", "there")
    )
    return PartitionReport(
        topic,
        partition,
        row["records"],
        first,
        last,
        row["judged"],
        {"gaps": max(0, span - row["offsets"]), **troubles},
        {name: row[f"first_{name}"] for name in troubles if row[f"first_{name}"] is not None},
        f"{here:016x}",
        row["records_there"],
        f"{there:016x}" if compared else "",
    )
