"""Schemas as Spark's SQL writes them, checked without Spark: `order_id STRING NOT NULL, tags ARRAY<STRING>`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, NamedTuple

SIMPLE_TYPES: Final = (
    *("boolean", "byte", "tinyint", "short", "smallint", "int", "integer", "long", "bigint", "float", "real", "double"),
    *("string", "binary", "date", "timestamp", "timestamp_ntz", "decimal", "dec", "numeric"),
)
MAX_DEPTH: Final = 32

_TOKEN: Final = re.compile(r"\s*(?:`([^`]+)`|([A-Za-z_][A-Za-z0-9_]*)|(\d+)|([<>(),:]))")


class SchemaError(ValueError):
    """Not a schema; the message says where."""


class Column(NamedTuple):
    """A top-level field of a schema."""

    name: str
    type: str
    required: bool


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema that was checked."""

    columns: tuple[Column, ...]

    @property
    def text(self) -> str:
        """For Spark. Decoded fields may be absent, so that required ones are checked after decoding."""
        return ", ".join(f"`{column.name}` {column.type}" for column in self.columns)

    def __str__(self) -> str:
        return ", ".join(f"{column.name} {column.type}{' NOT NULL' * column.required}" for column in self.columns)


def parse_schema(text: str) -> Schema:
    """Read a list of columns."""
    parser = _Parser(list(_tokens(text)))
    columns = tuple(parser.columns())
    names = [column.name.lower() for column in columns]
    for name in names:
        if names.count(name) > 1:
            raise SchemaError(f"column {name} is there twice")
    return Schema(columns)


def _tokens(text: str) -> Iterator[str]:
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise SchemaError(f"unexpected {text[position:].strip()[:20]!r}")
        yield next(group for group in match.groups() if group is not None)
        position = match.end()


class _Parser:
    """Recursive descent over the tokens; each method consumes what it names."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def columns(self) -> Iterator[Column]:
        while True:
            name = self._word("a column's name")
            self._skip(":")
            yield Column(name, self._type(name, 0), self._not_null())
            if self._at == len(self._tokens):
                return
            self._expect(",")

    def _type(self, column: str, depth: int) -> str:
        word = self._word(f"the type of {column}").lower()
        if depth > MAX_DEPTH:
            raise SchemaError(f"{column}: nested more than {MAX_DEPTH} deep")
        if word in ("decimal", "dec", "numeric"):
            return "DECIMAL" + self._precision()
        if word in SIMPLE_TYPES:
            return word.upper()
        if word == "array":
            self._expect("<")
            return f"ARRAY<{self._closed(self._type(column, depth + 1))}"
        if word == "map":
            self._expect("<")
            key = self._type(column, depth + 1)
            self._expect(",")
            return f"MAP<{key}, {self._closed(self._type(column, depth + 1))}"
        if word == "struct":
            self._expect("<")
            return f"STRUCT<{self._closed(', '.join(self._struct_fields(depth + 1)))}"
        close = get_close_matches(word, [*SIMPLE_TYPES, "array", "map", "struct"], 1)
        hint = f"; did you mean {close[0].upper()}?" if close else ""
        raise SchemaError(f"{column}: {word.upper()} is not a type{hint}")

    def _struct_fields(self, depth: int) -> Iterator[str]:
        while True:
            name = self._word("a field's name")
            self._skip(":")
            yield f"`{name}`: {self._type(name, depth)}"
            self._not_null()
            if self._peek() != ",":
                return
            self._at += 1

    def _precision(self) -> str:
        if self._peek() != "(":
            return "(10, 0)"
        self._at += 1
        digits = self._word("a number of digits")
        scale = "0"
        if self._skip(","):
            scale = self._word("a number of decimals")
        self._expect(")")
        if not (digits.isdigit() and scale.isdigit() and int(scale) <= int(digits) <= 38):
            raise SchemaError(f"DECIMAL({digits}, {scale}): at most 38 digits, and no more decimals than digits")
        return f"({digits}, {scale})"

    def _not_null(self) -> bool:
        if (self._peek() or "").lower() != "not":
            return False
        self._at += 1
        if self._word("NULL").lower() != "null":
            raise SchemaError("NOT without NULL")
        return True

    def _closed(self, inner: str) -> str:
        self._expect(">")
        return inner + ">"

    def _skip(self, token: str) -> bool:
        found = self._peek() == token
        self._at += found
        return found

    def _peek(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _word(self, what: str) -> str:
        token = self._peek()
        if token is None or token in "<>(),:":
            raise SchemaError(f"{what} is missing" + (f" before {token!r}" if token else " at the end"))
        self._at += 1
        return token

    def _expect(self, token: str) -> None:
        if not self._skip(token):
            found = self._peek()
            raise SchemaError(f"expected {token!r}, found {found!r}" if found else f"{token!r} is missing at the end")
