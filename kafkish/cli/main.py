"""`kafkish COMMAND`: finds the command's module, parses its arguments, calls it."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from kafkish import __version__, collector

COMMANDS: Final = {
    "serve": "start a broker",
    "pipeline": "run a data pipeline on Spark",
    "diff": "send the same requests to two brokers and show where their answers differ",
}
"""Command -> one line for `--help`. The module of the same name has `add_arguments` and `run`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The entry point; returns the process's exit code."""
    collector.rest()
    parser = argparse.ArgumentParser(prog="kafkish", description="A Kafka-wire-compatible broker.")
    parser.add_argument("--version", action="version", version=f"kafkish {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    wanted = sys.argv[1:] if arguments is None else arguments
    for command, summary in COMMANDS.items():
        subparser = subparsers.add_parser(command, help=summary, description=summary.capitalize() + ".")
        if command in wanted:  # no command pays for the imports of another
            import_module(f"kafkish.cli.{command}").add_arguments(subparser)
    options = parser.parse_args(arguments)
    run = import_module(f"kafkish.cli.{options.command}").run
    collector.begin()
    code: int = run(options)
    return code


if __name__ == "__main__":
    sys.exit(main())
