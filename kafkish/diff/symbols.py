"""What each broker names for itself, such as ids of topics and members: one symbol here stands for both names.

Requests are written with symbols, and each broker is sent its own names. Replies are read side by side: two names that
were never seen stand for one new symbol; a known name beside another is a difference.
"""

from collections.abc import Callable
from typing import Any, Final

from kafkish.diff.batches import relabelled
from kafkish_protocol.schema import Struct
from kafkish_protocol.types import ZERO_UUID, Uuid

OURS, THEIRS = 0, 1
UNKNOWN: Final = "~?"
NOTHING: Final = (None, "", ZERO_UUID, 0, -1)
"""Values that name nothing."""


def text_symbol(kind: str, number: int) -> str:
    return f"~{kind}-{number}"


def uuid_symbol(kind: str, number: int) -> Uuid:
    return Uuid(f"~{kind}"[:12].ljust(12, "-").encode() + number.to_bytes(4, "big"))


INTS: Final = ("port", "producer", "session")


def int_symbol(kind: str, number: int) -> int:
    """A number that no broker is likely to give, and no other kind has."""
    return 2_000_000_000 + INTS.index(kind) * 10_000_000 + number


MAKERS: Final[dict[str, Callable[[str, int], Any]]] = {
    "topic": uuid_symbol, "directory": uuid_symbol, "member": text_symbol, "host": text_symbol,
    "cluster": text_symbol, "path": text_symbol, "port": int_symbol, "producer": int_symbol, "session": int_symbol,
}  # fmt: skip

KINDS: Final = {
    "topic_id": "topic", "replica_directory_id": "directory", "member_id": "member", "leader": "member",
    "host": "host", "port": "port", "cluster_id": "cluster", "log_dir": "path", "producer_id": "producer",
    "session_id": "session",
}  # fmt: skip
"""Field -> the kind of thing that it names."""


class Symbols:
    """Both brokers' names, by symbol."""

    def __init__(self) -> None:
        self._names: dict[Any, tuple[Any, Any]] = {}
        self._symbols: dict[tuple[int, str, Any], Any] = {}
        self._counts = dict.fromkeys(MAKERS, 0)

    def bind(self, kind: str, ours: Any, theirs: Any) -> tuple[Any, Any]:
        """The symbols of two names that stand at the same place; names that nothing is known of are paired."""
        known = self.symbol(OURS, kind, ours), self.symbol(THEIRS, kind, theirs)
        if ours in NOTHING or theirs in NOTHING or known != (ours, theirs):
            return known
        self._counts[kind] += 1
        symbol = MAKERS[kind](kind, self._counts[kind])
        self._names[symbol] = ours, theirs
        self._symbols[OURS, kind, ours] = self._symbols[THEIRS, kind, theirs] = symbol
        return symbol, symbol

    def symbol(self, side: int, kind: str, name: Any) -> Any:
        """A broker's name as a symbol, or as it is if it is not known."""
        return name if name in NOTHING else self._symbols.get((side, kind, name), name)

    def known(self, side: int, kind: str, name: Any) -> Any:
        """The symbol of a name, or one word for any that has none."""
        symbol = self.symbol(side, kind, name)
        return symbol if symbol != name or name in NOTHING else UNKNOWN

    def without_names(self, side: int, text: str) -> str:
        """Words for people, with symbols in place of the long names in them."""
        for (at, _, name), symbol in self._symbols.items():
            if at == side and isinstance(name, str) and len(name) > 8:
                text = text.replace(name, str(symbol))
        return text

    def for_broker(self, side: int, value: Any, field: str = "") -> Any:
        """A request, or a part of one, as this broker is to be sent it."""
        if isinstance(value, Struct):
            names = [each.name for each in value.schema.fields]
            return type(value)(**{name: self.for_broker(side, getattr(value, name), name) for name in names})
        if isinstance(value, list):
            return [self.for_broker(side, each, field) for each in value]
        if field == "records" and value is not None:
            return relabelled(value, lambda producer_id: self._name(side, producer_id))
        return self._name(side, value) if field in KINDS else value

    def _name(self, side: int, value: Any) -> Any:
        return self._names[value][side] if value in self._names else value

    def renamed(self, side: int, value: Any, field: str = "", *, known_only: bool = False) -> Any:
        """A reply with symbols for the broker's own names, perhaps with one word for all that are not known yet."""
        if isinstance(value, Struct):
            names = [each.name for each in value.schema.fields]
            values = {name: self.renamed(side, getattr(value, name), name, known_only=known_only) for name in names}
            return type(value)(**values)
        if isinstance(value, list):
            return [self.renamed(side, each, field, known_only=known_only) for each in value]
        symbol = self.known if known_only else self.symbol
        return symbol(side, KINDS[field], value) if field in KINDS else value
