"""`kafkish diff`: the same requests to kafkish and to another broker, and where their answers differ."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kafkish.cli.arguments import parse_address

if TYPE_CHECKING:
    from kafkish.diff.run import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what `diff` takes."""
    parser.add_argument("--against", type=parse_address, metavar="HOST:PORT", required=True,
                        help="the broker whose answers are right, such as Apache Kafka")  # fmt: skip
    parser.add_argument("--broker", type=parse_address, metavar="HOST:PORT", default="127.0.0.1:9092",
                        help="the broker that is compared with it (default: %(default)s)")  # fmt: skip
    parser.add_argument("--requests", type=int, default=1000, metavar="N", help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="another seed, other requests")
    parser.add_argument(
        "--all", action="store_true", help="go on after the first difference, and show one of each kind"
    )
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the requests as a script")
    parser.add_argument("script", nargs="?", type=Path, help="requests to send in place of generated ones")


def run(options: argparse.Namespace) -> int:
    """Compare. Exit code 1 if there is a difference that is not deliberate, 2 if a broker cannot be compared."""
    from kafkish.diff import script  # noqa: PLC0415  # `serve` does not pay for it
    from kafkish.diff.run import Run  # noqa: PLC0415

    compared = Run((options.broker.host, options.broker.port), (options.against.host, options.against.port))

    wanted = sys.maxsize if options.script else options.requests

    def enough(report: "Report") -> bool:
        show_progress(report, wanted)
        return bool(report.findings) and not options.all

    report = compared.report
    try:
        steps = script.read(options.script) if options.script else compared.generated(options.seed)
        compared.compare(steps, wanted, enough)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    except (OSError, ValueError) as error:
        print(f"kafkish diff: {error}", file=sys.stderr)
        return 2
    finally:
        if options.record:
            script.write(compared.report.steps, options.record)
    show(report)
    return 1 if report.findings else 0


def show_progress(report: "Report", wanted: int) -> None:
    """A line that counts on a terminal; elsewhere, a line now and then."""
    is_watched = sys.stderr.isatty()
    if report.requests % (100 if is_watched else 1000) == 0:
        of_all = "" if wanted == sys.maxsize else f" of {wanted:,}"
        text = f"{report.requests:,}{of_all} requests, {len(report.findings)} unexplained differences"
        print(f"\r{text}" if is_watched else text, end="" if is_watched else "\n", file=sys.stderr, flush=True)


def show(report: "Report") -> None:
    """The differences, and what was compared."""
    from kafkish.diff.compare import OUTCOMES  # noqa: PLC0415

    for finding in report.findings.values():
        print(f"{finding}\n{'-' * 100}")
    for reason, count in report.deliberate.items():
        print(f"deliberate, {count} times: {reason}")
    for api, outcomes in sorted(report.by_api.items()):
        print(f"{api:30}" + ", ".join(f"{outcomes[each]} {each}" for each in OUTCOMES if outcomes[each]))
    print(f"{report.requests} requests of {len(report.by_api)} APIs, {len(report.findings)} unexplained differences")
