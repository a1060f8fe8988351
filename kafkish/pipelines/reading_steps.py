"""The `steps` of a pipeline file."""

import ast
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from kafkish.pipelines.document import Field, duration_ms, one_kind
from kafkish.pipelines.model import AggregateStep, JoinStep, PythonStep, SqlStep, Step
from kafkish.pipelines.reading_sources import read_watermark

SQL_FIELDS: Final = ("name", "sql", "watermark")
PYTHON_FIELDS: Final = ("name", "python", "inputs", "watermark")
AGGREGATE_FIELDS: Final = ("name", "aggregate", "time", "window", "slide", "watermark", "by", "values")
JOIN_FIELDS: Final = ("name", "join", "on", "how", "time", "between", "watermark")
HOW: Final = ("inner", "left", "right", "full")


def read_step(field: Field) -> Step:
    """One entry of `steps`."""
    return _READERS[one_kind(field.mapping(), tuple(_READERS), field)](field)


def read_sql(field: Field) -> SqlStep:
    """A query."""
    fields = field.fields(SQL_FIELDS, required=("name",))
    return SqlStep(fields["name"].name(), fields["sql"].where, fields["sql"].verbatim(), read_watermark(fields))


def read_python(field: Field) -> PythonStep:
    """`file.py:function` and the tables that it takes."""
    fields = field.fields(PYTHON_FIELDS, required=("name", "inputs"))
    text = fields["python"].verbatim()
    file, _, function = text.rpartition(":")
    if not file.endswith(".py") or not function.isidentifier():
        raise fields["python"].error(f"{text!r} is not FILE.py:FUNCTION")
    path = Path(fields["python"].where.file).resolve().parent / file
    inputs = fields["inputs"].texts()
    _check_function(fields["python"], path, function, len(inputs))
    return PythonStep(fields["name"].name(), fields["python"].where, path, function, inputs, read_watermark(fields))


def _check_function(field: Field, path: Path, function: str, inputs: int) -> None:
    """Look for the function without running the file."""
    try:
        tree = ast.parse(path.read_text())
    except OSError as error:
        raise field.error(f"{path} cannot be read: {error.strerror}") from None
    except (SyntaxError, ValueError) as error:
        raise field.error(f"{path} is not Python: {error}") from None
    found = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if function not in found:
        raise field.error(f"{path} has no function {function}; it has {', '.join(found) or 'none'}")
    taken = found[function].args
    least = len(taken.args) - len(taken.defaults)
    if not least <= inputs or (inputs > len(taken.args) and not taken.vararg):
        raise field.error(f"{function} takes {len(taken.args)} tables, and `inputs` names {inputs}")


def read_aggregate(field: Field) -> AggregateStep:
    """Values per window."""
    fields = field.fields(AGGREGATE_FIELDS, required=("name", "time", "window", "values"))
    window = fields["window"].duration()
    slide = fields["slide"].duration() if "slide" in fields else ""
    if slide and duration_ms(slide) > duration_ms(window):
        raise fields["slide"].error(f"longer than the window of {window}: rows between windows would be lost")
    values = fields["values"].mapping()
    if not values:
        raise fields["values"].error("empty; give at least one, such as `orders: count(*)`")
    return AggregateStep(
        fields["name"].name(),
        fields["aggregate"].where,
        fields["aggregate"].name(),
        fields["time"].verbatim(),
        window,
        {name: value.verbatim() for name, value in values.items()},
        slide,
        fields["watermark"].duration() if "watermark" in fields else "",
        fields["by"].texts() if "by" in fields else (),
    )


def read_join(field: Field) -> JoinStep:
    """Two tables side by side."""
    fields = field.fields(JOIN_FIELDS, required=("name", "on"))
    sides = fields["join"].fields(("left", "right"), required=("left", "right"))
    times = fields["time"].fields(("left", "right"), required=("left", "right")) if "time" in fields else {}
    earliest, latest = _between(fields)
    if bool(times) != bool(latest):
        raise field.error("`time` and `between` belong together: which columns, and how far apart they may lie")
    return JoinStep(
        fields["name"].name(),
        fields["join"].where,
        sides["left"].name(),
        sides["right"].name(),
        fields["on"].texts(),
        fields["how"].choice(HOW) if "how" in fields else "inner",
        times["left"].verbatim() if times else "",
        times["right"].verbatim() if times else "",
        earliest,
        latest,
        fields["watermark"].duration() if "watermark" in fields else "",
    )


def _between(fields: Mapping[str, Field]) -> tuple[str, str]:
    """`between: [5 minutes, 30 minutes]`: the right may be 5 minutes before the left, or 30 after it."""
    if "between" not in fields:
        return "", ""
    items = fields["between"].items()
    if len(items) != 2:
        raise fields["between"].error("expected two durations: how much earlier and how much later the right may be")
    return items[0].duration(), items[1].duration()


_READERS: Final[dict[str, Callable[[Field], Step]]] = {
    "sql": read_sql,
    "python": read_python,
    "aggregate": read_aggregate,
    "join": read_join,
}
