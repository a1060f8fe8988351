"""Java's properties format: what server.properties is written in. Knows no keys."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_BLANKS: Final = " \t\f"


class Property(NamedTuple):
    """A key with its value and the number of the line that it begins on."""

    name: str
    value: str
    line: int


class MalformedPropertyError(ValueError):
    """The text is not in the properties format."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def parse_properties(text: str) -> Iterator[Property]:
    """Every property in the order of the text; a later one of the same name replaces an earlier one."""
    for number, line in _logical_lines(text):
        end = _end_of_name(line)
        rest = line[end:].lstrip(_BLANKS)
        if rest[:1] in ("=", ":"):
            rest = rest[1:].lstrip(_BLANKS)
        yield Property(_unescape(line[:end], number), _unescape(rest, number), number)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments and blanks; a backslash at the end joins the next line."""
    start, joined = 0, ""
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        stripped = line.lstrip(_BLANKS)
        if not joined:
            start = number
            if stripped[:1] in ("", "#", "!"):
                continue
        backslashes = len(stripped) - len(stripped.rstrip("\\"))
        if backslashes % 2:
            joined += stripped[:-1]
            continue
        yield start, joined + stripped
        joined = ""
    if joined:
        yield start, joined


def _end_of_name(line: str) -> int:
    """A name ends at the first =, : or blank without a backslash before it."""
    position = 0
    while position < len(line) and line[position] not in "=: \t\f":
        position += 2 if line[position] == "\\" else 1
    return min(position, len(line))


def _unescape(text: str, line: int) -> str:
    if "\\" not in text:
        return text

    def replace(match: re.Match[str]) -> str:
        escaped = match[1]
        if escaped[0] != "u":
            return {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}.get(escaped, escaped)
        if not re.fullmatch("u[0-9a-fA-F]{4}", escaped):
            raise MalformedPropertyError(line, f"\\{escaped} is not \\u and four hexadecimal digits")
        return chr(int(escaped[1:], 16))

    replaced = re.sub(r"\\(u.{0,4}|.)", replace, text, flags=re.DOTALL)
    # Java's characters are UTF-16: two escapes may make one character.
    return replaced.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
