"""The driver: every row on kafkish and on Apache Kafka, in turns, round after round.

make bench           all rows
make bench-quick     some rows, in less than three minutes
make bench ARGS='--rows latency --rounds 10'
"""

import argparse
import dataclasses
import datetime
import os
import platform
import subprocess
import sys
import time

from bench.versus.brokers import ROOT, Broker, apache_kafka, both
from bench.versus.clients import client_rows, warm_up_client
from bench.versus.crowds import crowd_rows, raise_file_limit
from bench.versus.report import Report
from bench.versus.rows import Row, Sizes, consume_rows, latency_rows, produce_rows, warm_up

MB = 1_000_000
FULL = Sizes(seconds=3, latency_s=20, rounds=3, warm_up_s=60, limit_bytes=1_000 * MB, topics=1_000, records=2_000_000)
QUICK = Sizes(seconds=0.7, latency_s=1.5, rounds=2, warm_up_s=6, limit_bytes=150 * MB, topics=50, records=100_000)
TINY = Sizes(
    seconds=0.2, latency_s=0.2, rounds=1, warm_up_s=0.5, limit_bytes=10 * MB, topics=5, consumers=50, connections=50,
    members=5, records=5_000,
)  # fmt: skip


def all_rows() -> list[Row]:
    return [*crowd_rows(), *latency_rows(), *produce_rows(), *consume_rows(), *client_rows()]


def chosen(options: argparse.Namespace) -> list[Row]:
    """Those that were asked for, wherever they belong; else those of the quick bench, or all."""
    if not options.rows:
        return [row for row in all_rows() if row.quick or not (options.quick or options.tiny)]
    found = [row for row in all_rows() if any(part in row.name for part in options.rows)]
    if not found:
        sys.exit("no row has such a name; --list shows all")
    return found


def about() -> dict[str, str]:
    """What a reader of the figures must know."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return {
        "measured": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit.stdout.strip() or "unknown",
        "cores": str(os.cpu_count()),
        "Python": platform.python_version(),
        "Apache Kafka": apache_kafka.VERSION,
    }


class Progress:
    """One line that says where we are and how long it will take."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._start_s = total, 0, time.monotonic()

    def tell(self, what: str) -> None:
        gone_s = time.monotonic() - self._start_s
        left = f", {gone_s / self._done * (self._total - self._done):.0f} s left" if self._done else ""
        text = f"[{self._done}/{self._total}] {gone_s:.0f} s gone{left}: {what}"
        end = "" if sys.stderr.isatty() else "\n"
        print(f"\r\x1b[K{text}" if not end else text, end=end, file=sys.stderr, flush=True)
        self._done += 1


def measure(brokers: dict[str, Broker], rows: list[Row], sizes: Sizes, report: Report, name: str) -> None:
    """Round by round; the broker that begins changes from row to row."""
    progress = Progress(sizes.rounds * len(rows) * len(brokers))
    for number in range(sizes.rounds):
        for place, row in enumerate(rows):
            turn = list(brokers.values())
            for broker in turn if (number + place) % 2 == 0 else turn[::-1]:
                progress.tell(f"round {number + 1} of {sizes.rounds}, {row.name}, {broker.name}")
                try:
                    report.add(row, broker.name, number, row.measure(broker, sizes))
                except (AssertionError, OSError, subprocess.SubprocessError) as error:
                    report.failures.append(f"{row.name}, {broker.name}: {type(error).__name__} {error}")
        report.write(name)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="some rows, short")
    parser.add_argument("--tiny", action="store_true", help="as quick, but only to see that it works")
    parser.add_argument("--rows", action="append", metavar="TEXT", help="only rows whose names contain this")
    parser.add_argument("--rounds", type=int, metavar="N")
    parser.add_argument("--warm-up", type=float, metavar="SECONDS", help="of each broker")
    parser.add_argument("--only", default="", metavar="BROKER", help="one of the two, for a look")
    parser.add_argument("--list", action="store_true", help="the names of the rows")
    options = parser.parse_args()
    rows = chosen(options)
    if options.list:
        print("\n".join(row.name for row in rows))
        return 0
    sizes = TINY if options.tiny else QUICK if options.quick else FULL
    sizes = dataclasses.replace(
        sizes,
        rounds=sizes.rounds if options.rounds is None else options.rounds,
        warm_up_s=sizes.warm_up_s if options.warm_up is None else options.warm_up,
    )
    name = "some" if options.rows else "tiny" if options.tiny else "quick" if options.quick else "full"
    raise_file_limit()
    report = Report(about())
    with both(options.only) as brokers:
        for broker in brokers.values():
            print(f"warming up {broker.name} for {sizes.warm_up_s:g} s", file=sys.stderr, flush=True)
            warm_up(broker, sizes.warm_up_s)
            warm_up_client(broker, TINY)
        measure(brokers, rows, sizes, report, name)
    table = report.write(name)
    print(f"\n{table.read_text()}\nAlso in {table.parent.relative_to(ROOT)}: {name}.json, {name}.md, {name}.png")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
