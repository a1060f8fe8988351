"""A function under construction: its lines, its constants, and which field each line serves."""

import linecache
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Part:
    """One field of a run of fixed-width fields that a single `struct` call reads or writes."""

    format: str
    expression: str  # where it is stored, or what is written; empty for padding
    path: str

    @property
    def size(self) -> int:
        return struct.calcsize(">" + self.format)


@dataclass(frozen=True, slots=True)
class Place:
    """What a line serves. `path` holds names of loop counters in braces: `topics[{i1}].name`."""

    path: str
    run: tuple[Part, ...] = ()


class Source:
    """Lines of one function, each with its place."""

    def __init__(self, signature: str) -> None:
        self._lines = [signature]
        self._places = [Place("")]
        self._depth = 1
        self._numbers = 0
        self.constants: dict[str, Any] = {}
        self.path = ""

    def line(self, text: str, run: tuple[Part, ...] = ()) -> None:
        """Add a line that serves the current path."""
        self._lines.append("    " * self._depth + text)
        self._places.append(Place(self.path, run))

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """Add a line that opens a block; the lines inside the `with` are its body."""
        self.line(header)
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def at(self, name: str) -> Iterator[None]:
        """Lines inside the `with` serve this field of the current one."""
        outer = self.path
        self.path = f"{outer}.{name}" if outer and not name.startswith("[") else outer + name
        yield
        self.path = outer

    def number(self) -> int:
        """A number for local variables that no other part of the function uses."""
        self._numbers += 1
        return self._numbers

    def constant(self, name: str, value: Any) -> str:
        """Make a value known to the function under a name that says what it is."""
        self.constants.setdefault(name, value)
        return name

    def compile(self, file_name: str) -> Callable[..., Any]:
        """The function. It finds the place of each of its lines, the first line first, in its global `PLACES`."""
        text = "\n".join(self._lines) + "\n"
        linecache.cache[file_name] = (len(text), None, text.splitlines(True), file_name)  # for inspect and debuggers
        exec(compile(text, file_name, "exec"), self.constants)  # the text is ours: no part of it comes from outside
        self.constants["PLACES"] = self._places
        name = self._lines[0].removeprefix("def ").partition("(")[0]
        function: Callable[..., Any] = self.constants[name]
        return function
