"""Steps: from tables to a table. Every table is a view of its name, for SQL."""

import importlib.util
from pathlib import Path

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame

from kafkish.pipelines.context import Context
from kafkish.pipelines.explain import first_sentence
from kafkish.pipelines.jobs.aggregate import aggregate
from kafkish.pipelines.jobs.join import join
from kafkish.pipelines.model import AggregateStep, JoinStep, PythonStep, SqlStep, Step
from kafkish.pipelines.sources import with_watermark


def take_step(context: Context, step: Step) -> DataFrame:
    """The table that a step makes; what Spark refuses is an error at the step's line."""
    try:
        rows = _take(context, step)
        if isinstance(step, SqlStep | PythonStep) and step.watermark:
            rows = with_watermark(rows, step.watermark, step.where)
        return rows
    except (AnalysisException, ParseException) as error:
        raise step.where.error(first_sentence(error)) from None


def _take(context: Context, step: Step) -> DataFrame:
    if isinstance(step, SqlStep):
        return context.spark.sql(step.sql)
    if isinstance(step, PythonStep):
        return _call(context, step)
    if isinstance(step, AggregateStep):
        return aggregate(context.tables[step.input], step)
    assert isinstance(step, JoinStep)
    return join(context.tables[step.left], context.tables[step.right], step)


def _call(context: Context, step: PythonStep) -> DataFrame:
    """Call the user's function; its file also goes to the executors, for functions that it ships there."""
    context.spark.sparkContext.addPyFile(str(step.file))
    function = getattr(_load(step.file), step.function)
    try:
        rows = function(*(context.tables[name] for name in step.inputs))
    except (AnalysisException, ParseException):
        raise
    except Exception as error:
        raise step.where.error(f"{step.function} raised {type(error).__name__}: {error}") from error
    if not isinstance(rows, DataFrame):
        raise step.where.error(f"{step.function} returned {type(rows).__name__}, not a DataFrame")
    return rows


def _load(path: Path) -> object:
    """Import a file that is in no package, under its own name, as executors do."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
