"""`make sim-raft`: run many seeds, print the rate, and replay a seed that fails.

The work is spread over processes; each seed is a world of its own, so how they are spread changes nothing.
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from kafkish_raft.tests.simulation.chaos import Outcome, run

TAIL_LINES = 80
PROGRESS_SECONDS = 30


@dataclass
class Report:
    """What many seeds have come to."""

    seeds: int = 0
    steps: int = 0
    committed: int = 0
    simulated_ms: int = 0
    failures: list[Outcome] = field(default_factory=list)
    cpu_seconds: float = 0.0
    begun: float = field(default_factory=time.monotonic)

    def add(self, outcome: Outcome, cpu_seconds: float) -> None:
        self.seeds += 1
        self.cpu_seconds += cpu_seconds
        self.steps += outcome.steps
        self.committed += outcome.committed
        self.simulated_ms += outcome.simulated_ms
        if outcome.violation:
            self.failures.append(outcome)

    def __str__(self) -> str:
        seconds = max(time.monotonic() - self.begun, 0.001)
        return (
            f"{self.seeds:,} seeds, {len(self.failures)} failed; {self.steps // max(1, self.seeds):,} events each, "
            f"{self.committed:,} records committed, {self.simulated_ms / 3_600_000:,.1f} simulated hours; "
            f"{seconds:,.0f} s, {self.seeds / seconds * 3600:,.0f} seeds/hour, "
            f"{self.seeds / max(self.cpu_seconds, 0.001) * 3600:,.0f} per hour of one core"
        )


def timed(seed: int) -> tuple[Outcome, float]:
    """Run a seed, and how many seconds of CPU it took."""
    begun = time.process_time()
    outcome = run(seed)
    return outcome, time.process_time() - begun


def failure(seed: int) -> str:
    """A failing seed, replayed: the end of its story, and how to read the whole."""
    outcome = run(seed, is_traced=True)
    if outcome.violation is None:
        return f"seed {seed} did not fail when replayed: something outside the seed decides. That is a defect too."
    lines = [f"seed {seed} broke: {outcome.violation}", *outcome.trace[-TAIL_LINES:]]
    return "\n".join([*lines, f"The whole story of {outcome.steps:,} events: make sim-raft SEED={seed}"])


def simulate(seeds: Iterable[int], jobs: int) -> Report:
    """Run the seeds. Stops at the first failure: one is enough to work on."""
    report = Report()
    shown = report.begun
    with multiprocessing.Pool(jobs) as pool:
        for outcome, cpu_seconds in pool.imap_unordered(timed, seeds, chunksize=20):
            report.add(outcome, cpu_seconds)
            if outcome.violation:
                break
            if time.monotonic() - shown > PROGRESS_SECONDS:
                shown = time.monotonic()
                _print(str(report))
    return report


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description="Let simulated quorums suffer, and see that they keep their promises.")
    parser.add_argument("--seeds", type=int, default=1_000, help="how many (default: 1000)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one for each core)")
    parser.add_argument("--seed", type=int, help="tell the whole story of one seed")
    arguments = parser.parse_args()
    if arguments.seed is not None:
        outcome = run(arguments.seed, is_traced=True)
        _print("\n".join(outcome.trace))
        _print(f"seed {arguments.seed}: {outcome.violation or 'all promises kept'}")
        return 1 if outcome.violation else 0
    report = simulate(range(arguments.first, arguments.first + arguments.seeds), arguments.jobs)
    for outcome in report.failures:
        _print(failure(outcome.seed))
    _print(f"{report}, in {arguments.jobs} processes")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
