"""YAML that remembers its lines: a field gives its value, or an error that names line and field.

Knows nothing of pipelines. What it reads is bounded: the file's size, and its depth by the reader of each field.
"""

import calendar
import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

import yaml

from kafkish.pipelines.errors import PipelineError, Where

MAX_FILE_BYTES: Final = 1 << 20

_TAG: Final = "tag:yaml.org,2002:"
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_UNIT_MS: Final = {"millisecond": 1, "second": 1_000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}
_DURATION: Final = re.compile(rf"(\d{{1,9}}) ({'|'.join(_UNIT_MS)})s?")


def load(path: Path) -> "Field":
    """Read a file; its root field."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise PipelineError(f"{path}: cannot be read: {error.strerror}") from None
    if len(content) > MAX_FILE_BYTES:
        raise PipelineError(f"{path}: longer than {MAX_FILE_BYTES:,} bytes; a pipeline file is a page or two")
    return parse(content, str(path))


def parse(content: bytes, file: str) -> "Field":
    """Parse YAML; refuse what is not YAML, with its line."""
    try:
        node = yaml.compose(content.decode(), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise Where(file, line, "").error(f"not YAML: {error.problem}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise PipelineError(f"{file}: not YAML: {error}") from None
    if node is None:
        raise PipelineError(f"{file}: empty; a pipeline needs a name, sources and sinks")
    return Field(node, Where(file, node.start_mark.line + 1, ""))


@dataclass(frozen=True, slots=True)
class Field:
    """A value of the file and where it stands."""

    node: yaml.Node
    where: Where

    def error(self, text: str) -> PipelineError:
        """This field is wrong: why."""
        return self.where.error(text)

    @property
    def is_mapping(self) -> bool:
        """Whether it has fields of its own."""
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        """Whether it is a list."""
        return isinstance(self.node, yaml.SequenceNode)

    def fields(self, known: Collection[str], required: Collection[str] = ()) -> dict[str, "Field"]:
        """The fields of a mapping, all of them known and the required ones there."""
        found = self.mapping()
        for name, field in found.items():
            if name not in known:
                raise field.error(f"unknown field{nearest(name, known)}")
        for name in required:
            if name not in found:
                raise self.error(f"{name} is missing")
        return found

    def mapping(self) -> dict[str, "Field"]:
        """The entries of a mapping whose keys are free."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error(f"expected fields, found {self._found()}")
        found: dict[str, Field] = {}
        for key, value in self.node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else "?"
            where = Where(self.where.file, key.start_mark.line + 1, f"{self.where.field}.{name}".lstrip("."))
            if name in found:
                raise where.error(f"given twice; first in line {found[name].where.line}")
            found[name] = Field(value, where)
        return found

    def items(self) -> list["Field"]:
        """The elements of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.error(f"expected a list, found {self._found()}")
        places = [
            Where(self.where.file, item.start_mark.line + 1, f"{self.where.field}[{index}]")
            for index, item in enumerate(self.node.value)
        ]
        return [Field(item, where) for item, where in zip(self.node.value, places, strict=True)]

    def verbatim(self) -> str:
        """A text that is not empty, exactly as written."""
        if not isinstance(self.node, yaml.ScalarNode) or self.node.tag == f"{_TAG}null":
            raise self.error(f"expected a text, found {self._found()}")
        text: str = self.node.value
        if not text.strip():
            raise self.error("empty")
        return text

    def text(self) -> str:
        """A text in which `${NAME}` stands for a variable of the environment."""
        return _VARIABLE.sub(self._variable, self.verbatim())

    def texts(self) -> tuple[str, ...]:
        """One text, or a list of at least one."""
        if not self.is_list:
            return (self.text(),)
        if not (items := self.items()):
            raise self.error("empty")
        return tuple(item.text() for item in items)

    def text_map(self) -> dict[str, str]:
        """A mapping of free names to texts."""
        return {name: field.text() for name, field in self.mapping().items()}

    def name(self) -> str:
        """A name that a table in SQL may have."""
        text = self.verbatim()
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", text):
            raise self.error(f"{text!r} is not a name: letters, digits and _, a letter first")
        return text

    def label(self) -> str:
        """A name that a directory may have."""
        text = self.verbatim()
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", text):
            raise self.error(f"{text!r} is not a name: letters, digits, and _ . - after the first")
        return text

    def topic(self) -> str:
        """A name that a topic may have."""
        text = self.text()
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,249}", text) or text in (".", ".."):
            raise self.error(f"{text!r} is not a topic's name: letters, digits, and . _ -, at most 249")
        return text

    def topics(self) -> tuple[str, ...]:
        """One topic's name, or a list of them."""
        if not self.is_list:
            return (self.topic(),)
        if not (items := self.items()):
            raise self.error("empty")
        return tuple(item.topic() for item in items)

    def servers(self) -> str:
        """Where a cluster is: `host:port`, or several with commas between."""
        text = self.text()
        for server in text.split(","):
            host, _, port = server.strip().rpartition(":")
            if not host or not port.isdecimal() or not 0 < int(port) < 65_536:
                raise self.error(f"{server!r} is not HOST:PORT, such as 127.0.0.1:9092")
        return text

    def choice(self, choices: Collection[str]) -> str:
        """One of a few words."""
        text = self.verbatim()
        if text not in choices:
            raise self.error(f"{text!r} is not one of {', '.join(sorted(choices))}")
        return text

    def boolean(self) -> bool:
        """True or false."""
        return self.choice(("true", "false")) == "true"

    def integer(self, minimum: int = 1) -> int:
        """A whole number."""
        text = self.verbatim().replace("_", "")
        if not re.fullmatch(r"-?\d{1,18}", text) or int(text) < minimum:
            raise self.error(f"{text!r} is not a whole number of at least {minimum}")
        return int(text)

    def duration(self) -> str:
        """A length of time as Spark writes it, such as `10 minutes`."""
        text = self.verbatim()
        if not _DURATION.fullmatch(text):
            raise self.error(f"{text!r} is not a duration such as 30 seconds, 10 minutes, 2 hours, 1 day")
        return text

    def timestamp_ms(self) -> int:
        """A moment such as `2024-05-01T12:00:00Z`; UTC unless it names a zone."""
        try:
            moment = yaml.safe_load(self.verbatim())
            seconds = calendar.timegm(getattr(moment, "utctimetuple", moment.timetuple)())
        except (yaml.YAMLError, AttributeError, ValueError):
            raise self.error(f"{self.verbatim()!r} is not a moment such as 2024-05-01T12:00:00Z") from None
        return seconds * 1_000 + int(getattr(moment, "microsecond", 0)) // 1_000

    def file(self) -> str:
        """A path or URI. A relative one starts at the pipeline file's directory."""
        text = self.text()
        if "://" in text:
            return text
        return os.path.normpath(Path(self.where.file).resolve().parent / Path(text).expanduser())

    def json_file(self) -> str:
        """The text of a JSON file, such as an Avro schema."""
        path = Path(self.file())
        try:
            text = path.read_text()
            json.loads(text)
        except OSError as error:
            raise self.error(f"{path} cannot be read: {error.strerror}") from None
        except (ValueError, RecursionError) as error:
            raise self.error(f"{path} is not JSON: {error}") from None
        return text

    def _variable(self, match: re.Match[str]) -> str:
        if (value := os.environ.get(match[1])) is None:
            raise self.error(f"the environment has no variable {match[1]}")
        return value

    def _found(self) -> str:
        if self.is_mapping:
            return "fields"
        if self.is_list:
            return "a list"
        return f"{self.node.value!r}" if self.node.value else "nothing"


def one_kind(fields: Mapping[str, Field], kinds: Collection[str], whole: Field) -> str:
    """The one field that says what a thing is."""
    given = [kind for kind in kinds if kind in fields]
    if len(given) == 1:
        return given[0]
    if not given:
        raise whole.error(f"needs one of {', '.join(kinds)}")
    raise fields[given[1]].error(f"cannot stand beside {given[0]}: choose one")


def duration_ms(text: str) -> int:
    """Milliseconds of a duration that `Field.duration` gave."""
    match = _DURATION.fullmatch(text)
    assert match, text
    return int(match[1]) * _UNIT_MS[match[2]]


def nearest(name: str, known: Collection[str]) -> str:
    """A hint: the name that was probably meant, or all that there are."""
    close = get_close_matches(name, known, 1, 0.6)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; known: {', '.join(sorted(known))}" if known else ""
