"""What a topic may be called."""

import re
from collections.abc import Iterable
from typing import Final

METADATA_TOPIC: Final = "__cluster_metadata"

MAX_LENGTH: Final = 249
_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]+")


def why_invalid(name: str) -> str | None:
    """What is wrong with a name; None if nothing. A name becomes the name of a directory."""
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > MAX_LENGTH:
        return f"the length of '{name}' is longer than the max allowed length {MAX_LENGTH}"
    if not _LEGAL.fullmatch(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


class Collisions:
    """Names that metrics could not tell apart: `a.b` and `a_b`."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = names
        self._by_unified: dict[str, str] | None = None  # made when a name needs it: most have neither sign

    def find(self, name: str) -> str | None:
        """A topic that a new one of this name would be taken for."""
        if "." not in name and "_" not in name:
            return None
        if self._by_unified is None:
            self._by_unified = {known.replace(".", "_"): known for known in self._names}
        return self._by_unified.get(name.replace(".", "_"))
