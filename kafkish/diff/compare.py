"""Two replies to one request, field by field. What any two brokers have of their own is taken away first."""

import difflib
import os
import re
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from pprint import pformat
from typing import Any, Final

from kafkish.diff.fetched import moment, view
from kafkish.diff.symbols import KINDS, OURS, THEIRS, UNKNOWN, Symbols
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.schema import Message, Struct

VOLATILE: Final = {
    "throttle_time_ms", "finalized_features_epoch", "total_bytes", "usable_bytes", "last_fetch_timestamp",
    "last_caught_up_timestamp", "DescribeQuorumResponse.leader_epoch", "DescribeQuorumResponse.high_watermark",
    "DescribeQuorumResponse.log_end_offset",
}  # fmt: skip
"""What differs between any two clusters, Apache Kafka's too."""

IDENTITY: Final = (
    "name", "topic", "topic_name", "group_id", "key", "resource_type", "resource_name", "feature", "api_key",
    "partition_index", "partition", "index", "partition_id", "node_id", "broker_id", "group_instance_id",
)  # fmt: skip
"""Fields that tell which rows of two lists belong together."""
SHOWN_CHARS: Final = 400
BOUNDS: Final = re.compile(r"within \[-?\d+, -?\d+\]")
"""What a broker says of times that it takes, which is about its clock."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One field in which two replies differ."""

    api: str
    path: str
    ours: Any
    theirs: Any
    structs: tuple[Any, Any] = (None, None)  # that have the field

    @property
    def field(self) -> str:
        """The path without positions."""
        return ".".join(part.partition("[")[0] for part in self.path.split("."))

    def __str__(self) -> str:
        theirs, ours = self._shown(self.theirs), self._shown(self.ours)
        alike = len(os.path.commonprefix((theirs, ours)))  # noqa: RUF071  # of texts
        same = max(0, alike - SHOWN_CHARS // 2)
        theirs, ours = (shortened(f"{'…' if same else ''}{text[same:]}") for text in (theirs, ours))
        return f"{self.path or 'the reply'}\n  expected  {theirs}\n  got       {ours}"

    def _shown(self, value: Any) -> str:
        if self.path.endswith("error_code") and isinstance(value, int):
            return f"{value} {error_name(value)}"
        return repr(value)


def shortened(line: str) -> str:
    """A line that a person can read."""
    return line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}…"


def error_name(code: int) -> str:
    try:
        return ErrorCode(code).name
    except ValueError:
        return "which is no error of Kafka's"


class Comparison:
    """What two replies have of their own is learnt as symbols while they are compared."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols

    def differences(self, api: str, ours: Any, theirs: Any) -> list[Difference]:
        """All fields that differ; none if the replies say the same."""
        return list(self._walk(Difference(api, "", ours, theirs)))

    def _walk(self, at: Difference) -> Iterator[Difference]:
        """Differences in what two values hold that stand at the same place."""
        path, message, ours, theirs = at.path, at.api, at.ours, at.theirs
        if isinstance(ours, Struct) and type(ours) is type(theirs):
            for each in ours.schema.fields:
                if each.name not in VOLATILE and f"{message}Response.{each.name}" not in VOLATILE:
                    if message == "ListOffsets" and each.name == "offset" and is_clocked(ours, theirs):
                        continue
                    inner = f"{path}.{each.name}" if path else each.name
                    values = getattr(ours, each.name), getattr(theirs, each.name)
                    yield from self._walk(Difference(message, inner, *values, (ours, theirs)))
        elif isinstance(ours, list) and isinstance(theirs, list):
            yield from self._walk_lists(at)
        else:
            mine, other = self._plain(path.rpartition(".")[2].partition("[")[0], ours, theirs)
            if mine != other:
                yield replace(at, ours=mine, theirs=other)

    def _walk_lists(self, at: Difference) -> Iterator[Difference]:
        """Rows in the order of what they are about: Kafka's own order is often that of a hash table."""
        mine, other = self._sorted(OURS, joined(at.ours)), self._sorted(THEIRS, joined(at.theirs))
        if len(mine) != len(other):
            keys = [{self._row_key(side, row) for row in rows} for side, rows in ((OURS, mine), (THEIRS, other))]
            more, missing = sorted(keys[0] - keys[1]), sorted(keys[1] - keys[0])
            yield replace(at, ours=more or f"{len(mine)} rows", theirs=missing or f"{len(other)} rows")
            return
        names = [self._row_key(OURS, row) for row in mine]
        for number, (row, other_row) in enumerate(zip(mine, other, strict=True)):
            if UNKNOWN in names[number] and names.count(names[number]) > 1:
                continue  # nothing tells which of them belong together
            yield from self._walk(replace(at, path=f"{at.path}[{number}]", ours=row, theirs=other_row))

    def _sorted(self, side: int, rows: list[Any]) -> list[Any]:
        return sorted(rows, key=lambda row: self._row_key(side, row)) if rows and isinstance(rows[0], Struct) else rows

    def _row_key(self, side: int, row: Any) -> str:
        if not isinstance(row, Struct):
            return repr(row)
        names = {each.name for each in row.schema.fields}
        identity = [getattr(row, name) for name in IDENTITY if name in names]
        kinds = sorted(names & KINDS.keys())
        return repr((identity, [self._symbols.known(side, KINDS[name], getattr(row, name)) for name in kinds]))

    def _plain(self, field: str, ours: Any, theirs: Any) -> tuple[Any, Any]:
        """Two values as what is compared."""
        if field in KINDS:
            return self._symbols.bind(KINDS[field], ours, theirs)
        if field == "records":
            return view(ours, OURS, self._symbols), view(theirs, THEIRS, self._symbols)
        if field.endswith(("timestamp", "time_ms")):
            return moment(ours), moment(theirs)
        if isinstance(ours, str) and isinstance(theirs, str):
            return self._words(OURS, ours), self._words(THEIRS, theirs)
        return ours, theirs

    def _words(self, side: int, text: str) -> str:
        return BOUNDS.sub("within bounds", self._symbols.without_names(side, text))


def is_clocked(ours: Any, theirs: Any) -> bool:
    """Whether both look-ups found a record with a time of the broker's clock: it decides which is the latest one."""
    return {moment(ours.timestamp), moment(theirs.timestamp)} == {"now"}


def joined(rows: list[Any]) -> list[Any]:
    """A topic's partitions in one row: Fetch may answer for a topic in several."""
    if not rows or not hasattr(rows[0], "topic") or not hasattr(rows[0], "partitions"):
        return rows
    found: dict[Any, Any] = {}
    for row in rows:
        first = found.setdefault((row.topic, getattr(row, "topic_id", None)), copy(row))
        first.partitions = (
            [*first.partitions, *row.partitions] if first.partitions is not row.partitions else row.partitions
        )
    return list(found.values())


def side_by_side(ours: Any, theirs: Any) -> str:
    """Both replies as one text, with marks at the lines that differ."""
    texts = [pformat(as_plain(reply), width=100, sort_dicts=False).splitlines() for reply in (theirs, ours)]
    lines = difflib.unified_diff(texts[0], texts[1], "expected", "got", lineterm="", n=4)
    return "\n".join(map(shortened, lines))


def as_plain(value: Any) -> Any:
    """A message as dictionaries."""
    if isinstance(value, Struct):
        return {each.name: as_plain(getattr(value, each.name)) for each in value.schema.fields}
    if isinstance(value, list):
        return [as_plain(each) for each in value]
    return bytes(value).hex() if isinstance(value, memoryview) else value


OUTCOMES: Final = ("granted", "in part", "refused", "unanswered")


def outcome(reply: Any) -> str:
    """What became of a request: one of `OUTCOMES`."""
    if not is_answer(reply):
        return "unanswered"
    codes = {code != 0 for code in error_codes(reply)}
    return "in part" if len(codes) > 1 else "refused" if True in codes else "granted"


def error_codes(value: Any) -> Iterator[int]:
    """All error codes in a message. Where rows have their own, that of the whole says nothing if there is none."""
    if isinstance(value, list):
        for each in value:
            yield from error_codes(each)
    elif isinstance(value, Struct):
        inner = [code for each in value.schema.fields for code in error_codes(getattr(value, each.name))]
        own = getattr(value, "error_code", 0)
        yield from inner
        if own or (hasattr(value, "error_code") and not inner):
            yield own


def is_answer(reply: Any) -> bool:
    """Whether the broker answered in the protocol's form."""
    return isinstance(reply, Message)
