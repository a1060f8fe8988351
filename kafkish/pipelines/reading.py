"""A pipeline file, read and checked without Spark: YAML to `model.Pipeline`, or an error that names line and field."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

from kafkish.pipelines.document import Field, load, nearest
from kafkish.pipelines.model import (
    AggregateStep,
    ArchiveSink,
    ArchiveSource,
    BackfillSink,
    Check,
    JoinStep,
    MirrorSink,
    Pipeline,
    PythonStep,
    Sink,
    Source,
    Step,
    TopicSource,
)
from kafkish.pipelines.reading_checks import read_check
from kafkish.pipelines.reading_sinks import read_sink
from kafkish.pipelines.reading_sources import read_source
from kafkish.pipelines.reading_steps import read_step

FIELDS: Final = ("name", "checkpoint", "bootstrap", "every", "sources", "steps", "sinks", "verify")

_T = TypeVar("_T", Source, Step, Sink, Check)


def read_pipeline(path: Path) -> Pipeline:
    """Read a file and check all that can be known without Spark and without a broker."""
    root = load(path)
    fields = root.fields(FIELDS, required=("name",))
    name = fields["name"].label()
    pipeline = Pipeline(
        name,
        path,
        fields["checkpoint"].file() if "checkpoint" in fields else str(path.resolve().parent / "checkpoints" / name),
        fields["bootstrap"].servers() if "bootstrap" in fields else "",
        fields["every"].duration() if "every" in fields else "5 seconds",
        _each(fields, "sources", read_source),
        _each(fields, "steps", read_step),
        _each(fields, "sinks", read_sink),
        _each(fields, "verify", read_check),
    )
    _check_names(pipeline)
    _check_inputs(pipeline)
    if not pipeline.sinks and not pipeline.checks:
        raise root.error("nothing to do: give sinks, or verify")
    return pipeline


def _each(fields: Mapping[str, Field], name: str, read: Callable[[Field], _T]) -> tuple[_T, ...]:
    return tuple(read(item) for item in fields[name].items()) if name in fields else ()


def _check_names(pipeline: Pipeline) -> None:
    """Tables share one name space; sinks, which have directories in the checkpoint, another."""
    for parts in ((*pipeline.sources, *pipeline.steps), pipeline.all_sinks, pipeline.checks):
        seen: dict[str, object] = {}
        for part in parts:
            if part.name.lower() in seen:
                raise part.where.error(f"the name {part.name} is taken by {seen[part.name.lower()]}; give it another")
            seen[part.name.lower()] = part.where


def _check_inputs(pipeline: Pipeline) -> None:
    """Every input was defined before, and is of the kind that its reader needs."""
    tables = [source.name for source in pipeline.sources]
    for step in pipeline.steps:
        for name in _inputs(step):
            if name not in tables:
                raise step.where.error(f"no source or earlier step is called {name}{nearest(name, tables)}")
        tables.append(step.name)
    for sink in pipeline.sinks:
        if sink.input not in tables:
            raise sink.where.error(f"no source or step is called {sink.input}{nearest(sink.input, tables)}")
        _check_kind(sink, pipeline.source(sink.input))


def _inputs(step: Step) -> tuple[str, ...]:
    if isinstance(step, AggregateStep):
        return (step.input,)
    if isinstance(step, JoinStep):
        return (step.left, step.right)
    return step.inputs if isinstance(step, PythonStep) else ()


def _check_kind(sink: Sink, source: Source | None) -> None:
    if isinstance(sink, ArchiveSink | MirrorSink):
        if not isinstance(source, TopicSource) or source.decoder.format != "raw":
            raise sink.where.error(f"{sink.input} must be a source of topics with decode: raw")
        if isinstance(sink, MirrorSink) and source.end:
            raise sink.where.error(f"a mirror follows its topics; take `to` from {sink.input}")
    if isinstance(sink, BackfillSink) and not isinstance(source, ArchiveSource):
        raise sink.where.error(f"{sink.input} must be an archive source")
