"""Where the broker's time goes while a row is measured: py-spy samples kafkish from outside, so it runs as ever.

    make profile ROW='latency one at a time'
    make profile ROW='produce 1 KB' SECONDS=20

Each row is run twice: for a flame graph, and for a table of functions. Rows that read show also how their topic is
filled.
"""

import argparse
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

from bench.versus.__main__ import QUICK, all_rows
from bench.versus.brokers import KAFKISH, Broker, both
from bench.versus.crowds import raise_file_limit
from bench.versus.report import RESULTS
from bench.versus.rows import Row, warm_up

RATE_PER_S: Final = 250
SHOWN: Final = 25


def record(broker: Broker, row: Row, seconds: int, path: Path) -> None:
    """Samples while the row is measured again and again. The suffix of the path says in which format."""
    kind = {".svg": "flamegraph", ".txt": "raw"}[path.suffix]
    tool = str(Path(sys.executable).with_name("py-spy"))
    command = [tool, "record", "--pid", str(broker.pid), "--duration", str(seconds), "--rate", str(RATE_PER_S)]
    command += ["--format", kind, "--output", str(path)]
    recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while recorder.poll() is None:
        row.measure(broker, QUICK)
    told = recorder.communicate()[1]
    if recorder.returncode:
        sys.exit(f"py-spy could not look into the broker: {told}\nIt may need `sysctl kernel.yama.ptrace_scope=0`.")


def functions(stacks: str) -> tuple[Counter[str], Counter[str]]:
    """Samples of each function: in which it ran itself, and in which it was on the stack."""
    own: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for line in stacks.splitlines():
        stack, _, samples = line.rpartition(" ")
        names = [re.sub(r":\d+\)$", ")", frame) for frame in stack.split(";")]
        own[names[-1]] += int(samples)
        total.update(dict.fromkeys(names, int(samples)))
    return own, total


def table(stacks: str) -> str:
    """The functions that ran most."""
    own, total = functions(stacks)
    whole = sum(own.values()) or 1
    lines = [f"{'itself':>7} {'with callees':>13}"]
    for name, samples in own.most_common(SHOWN):
        lines.append(f"{samples / whole:>7.1%} {total[name] / whole:>13.1%}  {name}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--row", default="produce 1 KB, acks all, 6 partitions, none", metavar="TEXT")
    parser.add_argument("--seconds", type=int, default=10, metavar="N")
    options = parser.parse_args()
    rows = [row for row in all_rows() if options.row in row.name]
    if not rows:
        sys.exit("no row has such a name; `make bench ARGS=--list` shows all")
    raise_file_limit()
    RESULTS.mkdir(exist_ok=True)
    with both(KAFKISH) as brokers:
        broker = brokers[KAFKISH]
        warm_up(broker, 2)
        for row in rows:
            slug = re.sub(r"[^a-z0-9]+", "-", row.name.lower())
            graph, stacks = RESULTS / f"profile-{slug}.svg", RESULTS / f"profile-{slug}.txt"
            record(broker, row, options.seconds, graph)
            record(broker, row, options.seconds, stacks)
            print(f"\n{row.name}\n{table(stacks.read_text())}\nflame graph: {graph.name} in bench/results", flush=True)


if __name__ == "__main__":
    main()
