"""`kafkish pipeline run`, without the command line: check the file, find a broker, then import Spark and run."""

from collections.abc import Iterator
from contextlib import contextmanager

from kafkish.pipelines.embedded import start_embedded_broker
from kafkish.pipelines.errors import PipelineError
from kafkish.pipelines.model import Pipeline
from kafkish.pipelines.reading import read_pipeline
from kafkish.pipelines.request import Request
from kafkish.pipelines.requirements import require_reachable, require_spark


def run_pipeline(request: Request) -> int:
    """Check, then run; the process's exit code: 0, or 1 if a check of `verify` was bad."""
    pipeline = read_pipeline(request.file)
    if pipeline.checks and not request.once:
        raise pipeline.checks[0].where.error("verify looks at a range that ends: run with --once")
    require_spark()
    with broker(pipeline, request) as bootstrap:
        for own, where in pipeline.clusters:
            require_reachable(own or bootstrap or pipeline.bootstrap, where)
        from kafkish.pipelines.run import run  # noqa: PLC0415  # imports pyspark, which a file with errors need not wait for

        return run(pipeline, request, bootstrap)


@contextmanager
def broker(pipeline: Pipeline, request: Request) -> Iterator[str]:
    """The address for topics that have none of their own: a broker of this run if nobody named one."""
    if request.bootstrap or not pipeline.needs_default_cluster:
        yield request.bootstrap
        return
    if not request.master.startswith(("local", "spark://127.", "spark://localhost")):
        raise PipelineError(
            f"an embedded kafkish listens on this machine only, and Spark's workers are at {request.master}: "
            "give --bootstrap HOST:PORT"
        )
    with start_embedded_broker(request.data_dir) as address:
        yield address


def describe(pipeline: Pipeline) -> str:
    """What a run would do, for `--dry-run`."""
    lines = [f"{pipeline.name}: {pipeline.file} is good; checkpoint {pipeline.checkpoint}"]
    parts = {"source": pipeline.sources, "step": pipeline.steps, "sink": pipeline.sinks, "verify": pipeline.checks}
    for kind, entries in parts.items():
        lines += [f"  {kind:<7}{entry.name:<20}{entry}" for entry in entries]
    return "\n".join(lines)
