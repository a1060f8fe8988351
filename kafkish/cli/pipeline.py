"""`kafkish pipeline run FILE`: a pipeline on Spark."""

import argparse
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what `pipeline` takes."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    add_run_arguments(actions.add_parser("run", help="run a pipeline file", description="Run a pipeline file."))


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what `run` takes; `spark-submit` takes the same."""
    parser.add_argument("file", type=Path, metavar="FILE.yaml", help="the pipeline file")
    parser.add_argument("--master", default="local[*]", metavar="URL",
                        help="local[N], spark://HOST:PORT, yarn, k8s://... (default: %(default)s)")  # fmt: skip
    parser.add_argument("--conf", action="append", default=[], type=_setting, metavar="KEY=VALUE",
                        help="a setting of Spark's; may be given again")  # fmt: skip
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--once", action="store_true", help="read what is there now, then end (default)")
    mode.add_argument("--continuous", action="store_true", help="go on until SIGTERM or ctrl-c")
    parser.add_argument("--dry-run", action="store_true", help="check the file, say what would run, and end")
    parser.add_argument("--bootstrap", default="", metavar="HOST:PORT",
                        help="the broker for topics that name none; without it, the run starts one")  # fmt: skip
    parser.add_argument("--data-dir", type=Path, default=Path("data"), metavar="DIR",
                        help="where the broker of the run keeps its data (default: ./%(default)s)")  # fmt: skip


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key, value


def run(options: argparse.Namespace) -> int:
    """Run the file; errors are one message."""
    try:
        from kafkish.pipelines.command import describe, run_pipeline  # noqa: PLC0415  # PyYAML may not be installed
        from kafkish.pipelines.errors import PipelineError  # noqa: PLC0415
        from kafkish.pipelines.reading import read_pipeline  # noqa: PLC0415
        from kafkish.pipelines.request import Request  # noqa: PLC0415
    except ModuleNotFoundError as error:
        print(f"kafkish pipeline needs {error.name}: pip install 'kafkish[spark]'", file=sys.stderr)
        return 2
    request = Request(options.file, options.master, dict(options.conf), not options.continuous, options.bootstrap,
                      options.data_dir)  # fmt: skip
    try:
        if options.dry_run:
            print(describe(read_pipeline(options.file)))
            return 0
        return run_pipeline(request)
    except PipelineError as error:
        print(f"kafkish pipeline: {error}", file=sys.stderr)
        return 2
